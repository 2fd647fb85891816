"""Log-likelihoods that an evaluation has taken, kept on disk, so that a run can be gone on with."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from good_ros.core.cache import cache_folder
from good_ros.core.errors import InputError
from good_ros.core.goals import Goal
from good_ros.inference.layout import Dialog
from good_ros.inference.scorer import Scorer

Evidence = list[tuple[float, ...]]
"""For each goal the log-likelihood of each utterance, in nats."""


class JsonLinesStore:
    """Results by key in a file of JSON lines; what a killed run wrote is there still.

    Raises InputError where the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, object] = {}
        with contextlib.suppress(FileNotFoundError):
            for line in path.read_text().splitlines():
                # A run that was killed may have left half a line.
                with contextlib.suppress(ValueError, KeyError, TypeError):
                    entry = json.loads(line)
                    self._known[entry["key"]] = entry["value"]

    def get(self, key: object, make: Callable[[], object]) -> object:
        """The value kept under ``key`` (anything JSON can hold), made and kept where there is
        none."""
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
        if digest not in self._known:
            value = make()
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a") as file:
                    file.write(json.dumps({"key": digest, "value": value}) + "\n")
            except OSError as error:
                raise InputError(
                    f"results cannot be kept in {self.path} ({error.strerror}): name another "
                    "folder by GOOD_ROS_CACHE"
                ) from error
            self._known[digest] = value
        return self._known[digest]


def default_store(name: str) -> JsonLinesStore:
    """The store of an evaluation in the cache folder."""
    return JsonLinesStore(cache_folder() / "eval" / f"{name}.jsonl")


def evidence(
    store: JsonLinesStore,
    scorer: Scorer,
    how: Sequence[str],
    goals: Sequence[Goal],
    dialog: Dialog,
) -> Evidence:
    """The evidence of a dialog for goals, from the store or the scorer.

    ``how`` names what else the scores depend on: the back end and the layout.
    """

    def take() -> object:
        session = scorer.session()
        try:
            session.set_goals(goals)
            for question, utterance in dialog:
                session.append(question, utterance)
            scores = session.log_likelihoods()
            return [list(scores[goal.id]) for goal in goals]
        finally:
            session.close()

    key = [scorer.model_name, list(how), [g.text for g in goals], [list(t) for t in dialog]]
    kept = store.get(key, take)
    assert isinstance(kept, list)
    return [tuple(row) for row in kept]

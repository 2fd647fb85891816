"""The isolated inference experiment within a run (GOOD, IV-A, figure 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from good_ros.core.goals import Goal
from good_ros.experiments import csqa
from good_ros.experiments.evidence_store import Evidence, JsonLinesStore, default_store, evidence
from good_ros.experiments.run_folder import RunFolder
from good_ros.experiments.spec import Spec
from good_ros.experiments.statistics import bootstrap
from good_ros.inference.backends import backend_of, make_scorer
from good_ros.inference.layout import DEFAULT_LAYOUT, Layout
from good_ros.inference.scorer import Scorer
from good_ros.language.backends import make_generator
from good_ros.language.generator import Generator

LAYOUTS = (DEFAULT_LAYOUT, Layout.GOAL_FIRST)


def run_isolated(
    spec: Spec,
    folder: RunFolder,
    *,
    generators: Callable[[str], Generator] = make_generator,
    scorers: Callable[[str, Layout], Scorer] = lambda model, layout: make_scorer(
        model, layout=layout
    ),
    store: Callable[[str], JsonLinesStore] = default_store,
    on_result: Callable[[dict[str, Any]], None] = lambda result: None,
) -> None:
    """Each model on the questions, ours and the paper's reading; what is kept is not run again.

    Raises InputError where the questions cannot be read, ModelError where a model fails.
    """
    if spec.isolated is None:
        return
    results = folder.isolated()
    known = {(r["model"], r["layout"]) for r in results}
    wanted = [
        (model, layout)
        for model in (spec.isolated.models or (spec.scorer,))
        for layout in LAYOUTS
        if (model, layout.value) not in known
    ]
    if not wanted:
        return
    questions = csqa.load_questions(Path(spec.isolated.data), spec.isolated.limit)
    generator = generators(spec.isolated.rephrased_by)
    try:
        kept = store("rephrasings")
        groups = {q.id: csqa.rephrase(kept, generator, q, spec.seed) for q in questions}
    finally:
        generator.close()
    for model, layout in wanted:
        results.append(_measure(model, layout, questions, groups, scorers, store("csqa")))
        folder.keep_isolated(results)
        on_result(results[-1])


def _measure(
    model: str,
    layout: Layout,
    questions: Sequence[csqa.ChoiceQuestion],
    groups: dict[str, list[list[str]]],
    scorers: Callable[[str, Layout], Scorer],
    store: JsonLinesStore,
) -> dict[str, Any]:
    scorer = scorers(model, layout)
    how = (backend_of(model), layout.value)

    def take(goals: Sequence[Goal], dialog: Sequence[tuple[str, str]]) -> Evidence:
        return evidence(store, scorer, how, goals, dialog)

    try:
        scored = csqa.score(questions, lambda q: groups[q.id], take)
    finally:
        scorer.close()
    each = [csqa.measure([one]) for one in scored]
    result: dict[str, Any] = {"model": model, "layout": layout.value, "n": len(each)}
    for name in ("accuracy", "accuracy_unspecified"):
        values = [getattr(one, name) for one in each]
        low, high = bootstrap(values) or (0.0, 1.0)
        result |= {name: sum(values) / len(values), f"{name}_low": low, f"{name}_high": high}
    return result

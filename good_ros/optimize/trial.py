"""One execution of one instance under one prompt (PROMST, 3.2), and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from good_ros.language.generator import Generator, Message, Reply, Sampling
from good_ros.optimize.environments.base import Feedback, Kind


@dataclass(frozen=True)
class Round:
    """One step: the state as it was shown, the reply, and what the environment said."""

    state: str
    reply: str
    text: str


@dataclass(frozen=True)
class Trial:
    """``progress`` is S of Equation 4, ``completed`` whether it is 1; tokens are of the model
    that acts. ``seconds`` is told but never part of a result."""

    instance: str
    progress: float
    completed: bool
    steps: int
    feedback: tuple[Feedback, ...]
    rounds: tuple[Round, ...]
    calls: int
    tokens_in: int
    tokens_out: int
    seconds: float = 0.0

    def count(self, kind: Kind) -> int:
        """How often a type of feedback came up."""
        return Counter(f.kind for f in self.feedback)[kind]

    def as_json(self) -> dict[str, Any]:
        fields = asdict(self)
        fields["feedback"] = [[f.kind.value, f.text] for f in self.feedback]
        fields["rounds"] = [[r.state, r.reply, r.text] for r in self.rounds]
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Trial:
        """Raises KeyError, TypeError or ValueError where the fields are not a trial's."""
        known = {name: fields[name] for name in cls.__dataclass_fields__}
        known["feedback"] = tuple(Feedback(Kind(kind), text) for kind, text in fields["feedback"])
        known["rounds"] = tuple(Round(*entry) for entry in fields["rounds"])
        return cls(**known)


class Counted:
    """A generator whose calls and tokens are counted, for one trial."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self.model_name = generator.model_name
        self.calls = 0
        self.tokens_in = 0
        self.tokens_out = 0
        self.seconds = 0.0
        self.replies: list[str] = []

    def generate(
        self, messages: Sequence[Message], sampling: Sampling, *arguments: Any, **options: Any
    ) -> Reply:
        """As the generator's. Raises what that raises."""
        reply = self._generator.generate(messages, sampling, *arguments, **options)
        self.calls += 1
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out
        self.seconds += reply.seconds
        self.replies.append(reply.text)
        return reply

    def close(self) -> None:
        """The generator belongs to somebody else."""


class Unconstrained(Counted):
    """Counted, and without the schema of a reply, as a server that cannot constrain replies."""

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None = None,
        *arguments: Any,
        **options: Any,
    ) -> Reply:
        return super().generate(messages, sampling, None, *arguments, **options)

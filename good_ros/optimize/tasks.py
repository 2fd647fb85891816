"""A task as the search sees it: instances, and a trial of a prompt on one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from good_ros.core.errors import InputError
from good_ros.language import prompts
from good_ros.language.generator import Generator, Sampling
from good_ros.optimize.environments.base import Feedback
from good_ros.optimize.environments.registry import (
    PER_SIZE,
    Instance,
    environment,
    instances,
    read_problems,
)
from good_ros.optimize.resources import PROMPTS
from good_ros.optimize.trial import Counted, Round, Trial

HELD_BACK_SEEDS = 1000
"""Held-back instances are drawn with seeds from here on."""
EFFECT_CHARS = 400


class Task(Protocol):
    """``start_prompt`` is where the search begins; ``instances`` are those that prompts are
    scored on, ``held_back`` those that the search never sees."""

    name: str
    start_prompt: str
    instances: Sequence[Instance]
    held_back: Sequence[Instance]

    def trial(self, prompt: str, instance: Instance, model: Generator, memory: str = "") -> Trial:
        """Raises ModelError where the model fails. ``memory`` is what earlier trials of this
        instance taught (Reflexion, appendix L)."""

    def usable(self, prompt: str) -> str:
        """The prompt as it can be used; empty where it cannot be."""

    def given_feedback(self) -> Sequence[Feedback]:
        """Feedback that came from elsewhere than trials, such as people."""

    def as_file(self, prompt: str, provenance: str) -> tuple[str, str]:
        """(name, text) of the YAML file that makes use of a prompt."""


@dataclass(frozen=True)
class TaskOptions:
    """What of a run's ``task`` section is for every environment.

    ``history_chars`` bounds the sliding window of earlier rounds, ``max_tokens`` a reply;
    ``max_steps`` 0 leaves the environment's own limit.
    """

    sizes: tuple[int, ...] | None = None
    per_size: int = PER_SIZE
    held_back: int = PER_SIZE
    first_seed: int = 0
    problems: str = ""
    start_prompt: str = ""
    history_chars: int = 4000
    max_tokens: int = 256
    max_steps: int = 0
    max_prompt_chars: int = 6000


class SteppedTask:
    """A task in an environment: the model that acts is asked for one action after another."""

    def __init__(self, name: str, options: TaskOptions) -> None:
        self.name = name
        self.kind = environment(name)
        self.options = options
        self.start_prompt = options.start_prompt or self.kind.start_prompt
        if options.problems:
            read = read_problems(Path(options.problems), name)
            if options.held_back >= len(read):
                raise InputError(f"{options.problems} leaves no problem that is not held back")
            self.instances: Sequence[Instance] = read[: len(read) - options.held_back]
            self.held_back: Sequence[Instance] = read[len(read) - options.held_back :]
        else:
            self.instances = instances(name, options.per_size, options.first_seed, options.sizes)
            self.held_back = instances(name, options.held_back, HELD_BACK_SEEDS, options.sizes)

    def trial(self, prompt: str, instance: Instance, model: Generator, memory: str = "") -> Trial:
        counted = Counted(model)
        world = self.kind(instance.layout)
        if self.options.max_steps:
            world.max_steps = min(world.max_steps, self.options.max_steps)
        rounds: list[Round] = []
        feedback: list[Feedback] = []
        form = prompts.load("task", folder=PROMPTS)
        try:
            while not world.done():
                state = world.state_text()
                messages = form.messages(
                    prompt=f"{prompt}\n\n{memory}".strip(),
                    history=history_text(rounds, self.options.history_chars),
                    state=state,
                )
                reply = counted.generate(messages, Sampling(self.options.max_tokens))
                outcome = world.act(reply.text)
                rounds.append(Round(state, reply.text, outcome.text))
                if outcome.feedback is not None:
                    feedback.append(outcome.feedback)
                if outcome.ends:
                    break
            return Trial(
                instance.id,
                world.progress(),
                world.done(),
                len(rounds),
                tuple(feedback),
                tuple(rounds),
                counted.calls,
                counted.tokens_in,
                counted.tokens_out,
                counted.seconds,
            )
        finally:
            world.close()

    def usable(self, prompt: str) -> str:
        return prompt[: self.options.max_prompt_chars].strip()

    def given_feedback(self) -> Sequence[Feedback]:
        return ()

    def as_file(self, prompt: str, provenance: str) -> tuple[str, str]:
        return self.name, prompt_file(provenance, (), prompt, "")


def history_text(rounds: Sequence[Round], limit: int) -> str:
    """The latest rounds that fit into ``limit`` characters: a sliding window (4.3)."""
    lines: list[str] = []
    room = limit
    for number in range(len(rounds), 0, -1):
        entry = rounds[number - 1]
        text = (
            f"Step {number}. State: {entry.state}\nAction: {entry.reply.strip()}\n"
            f"Result: {entry.text[:EFFECT_CHARS]}"
        )
        if len(text) > room:
            break
        room -= len(text)
        lines.insert(0, text)
    return "\n".join(lines) or "(this is the first step)"


def prompt_file(description: str, slots: Sequence[str], system: str, user: str) -> str:
    """A prompt as ``good_ros.language.prompts`` reads it."""
    import yaml

    data: Mapping[str, Any] = {
        "description": description,
        "slots": list(slots),
        "system": system.rstrip() + "\n",
        **({"user": user} if user else {}),
    }
    return yaml.dump(data, sort_keys=False, allow_unicode=True, width=100, Dumper=_Blocks)


def _blocks() -> type[Any]:
    import yaml

    class Blocks(yaml.SafeDumper):
        """Texts of several lines as blocks, as a person would write them."""

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Blocks.add_representer(str, text)
    return Blocks


_Blocks = _blocks()

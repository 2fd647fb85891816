"""Reflexion: lessons from failed trials, put into the prompt (offline) or kept for the next try
of the same instance (online); appendix L."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from good_ros.core.errors import InputError
from good_ros.optimize.environments.registry import Instance
from good_ros.optimize.methods.base import cleaned, plain_errors, record_level, seed_of
from good_ros.optimize.search import Search
from good_ros.optimize.trial import Trial

LESSONS = 4
"""Lessons that a prompt has room for: three to five, says the paper."""


class OfflineReflexion:
    """``variant`` 1 puts some lessons behind the start prompt as they are; 2 has more of them
    summed up first."""

    def __init__(self, variant: int = 1, **options: Any) -> None:
        if variant not in (1, 2):
            raise InputError(f"offline Reflexion has the variants 1 and 2, not {variant}")
        self.variant = variant

    def run(self, search: Search) -> str:
        config = search.config
        best, without_gain = search.archive.best.score, 0
        for level in range(1, config.levels + 1):
            start = search.archive.best if self.variant == 2 else search.archive.of("0000")
            kids = config.kids[0] if level == 1 else config.kids[1]
            for number in range(kids):
                failures = start.failures
                wanted = LESSONS if self.variant == 1 else config.feedback_instances
                random = search.random("lessons", start.id, level, number)
                chosen = random.sample(failures, min(len(failures), wanted))
                lessons = [reflect(search, start.text, trial) for trial in chosen]
                text = "\n".join(f"- {lesson}" for lesson in lessons)
                if self.variant == 2 and lessons:
                    seed = seed_of(search, start.id, level, number)
                    text = cleaned(search.ask("reflexion_summarise", seed, lessons=text))
                if text:
                    whole = f"{start.text}\n\nLessons from earlier trials:\n{text}"
                    search.evaluate(whole, [start], level, f"{len(lessons)} lessons")
            beam = search.archive.top(config.beam)
            record_level(search, level, beam)
            without_gain = 0 if beam[0].score > best else without_gain + 1
            best = beam[0].score
            if without_gain >= config.patience:
                return f"{config.patience} levels brought no gain"
        return f"all {config.levels} levels are done"


def reflect(search: Search, prompt: str, trial: Trial) -> str:
    """What a failed trial teaches, from the environment's own words."""
    reply = search.ask(
        "reflexion_reflect",
        seed_of(search, "reflect", trial.instance),
        prompt=prompt,
        trial=plain_errors([trial]),
    )
    return " ".join(cleaned(reply).split())


def online(search: Search, prompt: str, instances: Sequence[Instance], tries: int) -> float:
    """The mean score of the last tries, where each instance is tried until it is completed, at
    most ``tries`` times, with the lessons of the tries before (PROMST + online Reflexion)."""
    last: list[Trial] = []
    for instance in instances:
        lessons: list[str] = []
        for _ in range(tries):
            memory = "\n".join(["Lessons from earlier tries:", *lessons]) if lessons else ""
            trial = search.trials(prompt, [instance], checked=False, memory=memory)[0]
            if trial.completed:
                break
            lessons.append(f"- {reflect(search, prompt, trial)}")
        last.append(trial)
    return search.mean_score(last)

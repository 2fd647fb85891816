"""Score functions: what of a trial a prompt is judged by (PROMST, 4.3 and appendix J).

A run names one, with options; a lab's own is named by its dotted path, ``package.module:function``,
and is called with a Trial and the options. Higher is better; a prompt's score is the mean.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from good_ros.core.errors import InputError
from good_ros.optimize.environments.base import Kind
from good_ros.optimize.trial import Trial

Score = Callable[[Trial], float]
FACTORS = ("steps", "collisions", "tokens")


def progress(trial: Trial) -> float:
    """The share of sub-goals reached (Equation 4)."""
    return trial.progress


def completion(trial: Trial) -> float:
    """1 where every sub-goal was reached (appendix F)."""
    return float(trial.completed)


def minus(trial: Trial, ratio: float = 0.01, factor: str = "steps") -> float:
    """Progress less ``ratio`` times a factor (Equation 5)."""
    return trial.progress - ratio * factor_value(trial, factor)


def over(trial: Trial, ratio: float = 0.01, factor: str = "steps") -> float:
    """Progress divided by 1 + ``ratio`` times a factor (Equation 6)."""
    return trial.progress / (1 + ratio * factor_value(trial, factor))


def factor_value(trial: Trial, factor: str) -> float:
    """What a person may care about beside progress. Raises InputError for an unknown factor."""
    if factor == "steps":
        return trial.steps
    if factor == "collisions":
        return trial.count(Kind.COLLISION)
    if factor == "tokens":
        return trial.tokens_out
    raise InputError(f"there is no factor {factor!r}; there are {', '.join(FACTORS)}")


NAMED: Mapping[str, Callable[..., float]] = {
    "progress": progress,
    "completion": completion,
    "minus": minus,
    "over": over,
}


def make_score(name: str, options: Mapping[str, Any] | None = None) -> Score:
    """The score function of a name or a dotted path. Raises InputError where there is none."""
    function = NAMED.get(name) or _imported(name)
    chosen = dict(options or {})
    return lambda trial: float(function(trial, **chosen))


def _imported(path: str) -> Callable[..., float]:
    module, colon, attribute = path.partition(":")
    if not colon:
        raise InputError(
            f"there is no score {path!r}; there are {', '.join(NAMED)}, or package.module:function"
        )
    try:
        found: Callable[..., float] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"the score {path} cannot be imported: {error}") from error
    return found

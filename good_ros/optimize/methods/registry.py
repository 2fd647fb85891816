"""The methods by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from good_ros.core.errors import InputError
from good_ros.optimize.methods.base import Method
from good_ros.optimize.methods.baselines import (
    Ape,
    Apo,
    Evolutionary,
    LlmAsOptimizer,
    PromptAgent,
    PromptBreeder,
)
from good_ros.optimize.methods.gepa import Gepa
from good_ros.optimize.methods.promst import Promst
from good_ros.optimize.methods.reflexion import OfflineReflexion

METHODS: Mapping[str, Callable[..., Method]] = {
    "promst": Promst,
    "ape": Ape,
    "apo": Apo,
    "promptagent": PromptAgent,
    "llm_as_optimizer": LlmAsOptimizer,
    "promptbreeder": PromptBreeder,
    "evolutionary": Evolutionary,
    "reflexion_offline_1": partial(OfflineReflexion, 1),
    "reflexion_offline_2": partial(OfflineReflexion, 2),
    "gepa": Gepa,
}


def make_method(name: str, options: Mapping[str, Any]) -> Method:
    """The method of a name. Raises InputError where there is none, or an option is unknown."""
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}; there are {', '.join(METHODS)}")
    try:
        return METHODS[name](**options)
    except TypeError as error:
        raise InputError(f"method_options of {name}: {error}") from error

"""Reading what a model replied."""

from __future__ import annotations

import json
import re

from good_ros.optimize.environments.base import Kind, WrongReply

BRACED = re.compile(r"\{([^{}]*)\}")


def plan_object(reply: str) -> dict[str, str]:
    """The one JSON object of texts in a reply, whatever prose is around it.

    Raises WrongReply (syntactic) where there is none, or more than one.
    """
    found = BRACED.findall(reply)
    if len(found) != 1:
        count = "no" if not found else "more than one"
        raise WrongReply(Kind.SYNTAX, f"there is {count} JSON object in the reply.")
    try:
        pairs = json.loads("{" + found[0] + "}", object_pairs_hook=list)
    except ValueError as error:
        raise WrongReply(Kind.SYNTAX, f"it cannot be read as JSON ({error}).") from error
    plan = dict(pairs)
    if not plan:
        raise WrongReply(Kind.SYNTAX, "the plan is empty.")
    if len(plan) != len(pairs):
        raise WrongReply(Kind.SYNTAX, "a name comes twice in the plan.")
    if not all(isinstance(value, str) for value in plan.values()):
        raise WrongReply(Kind.SYNTAX, "every value of the plan must be a text.")
    return plan


def braced_action(reply: str, actions: dict[str, str]) -> str:
    """The value in ``actions`` for the one action in braces in a reply.

    Raises WrongReply (syntactic) where there is none, an unknown one, or several.
    """
    found = {" ".join(text.split()).casefold() for text in BRACED.findall(reply)}
    if len(found) != 1:
        count = "no action" if not found else "more than one action"
        raise WrongReply(Kind.SYNTAX, f"there is {count} in braces.")
    text = found.pop()
    if text not in actions:
        raise WrongReply(Kind.SYNTAX, f"'{{{text}}}' is not one of the actions.")
    return actions[text]

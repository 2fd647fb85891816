"""How a goal and a dialog are laid out for the model, as a role-play (GOOD, III-C).

Two orders are there. ``goal_first`` is the paper's: the goal is told before the dialog, so that
each goal has a reading of the whole dialog of its own. ``goal_last`` tells it beside the question
that is being answered: the dialog before is the same for every goal and read once, and the goal
is fresh in the model's mind. docs/belief.md has the evidence for the default.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from good_ros.core.goals import Goal
from good_ros.language import prompts
from good_ros.language.generator import Message

Dialog = Sequence[tuple[str, str]]
"""(question, utterance), oldest first."""


class Layout(str, Enum):
    """Where the goal is told."""

    GOAL_FIRST = "goal_first"
    GOAL_LAST = "goal_last"


DEFAULT_LAYOUT = Layout.GOAL_LAST


def reading(layout: Layout, goal: Goal, dialog: Dialog) -> list[Message]:
    """The chat in which the model, playing a person with ``goal``, says the last utterance.

    Each question is a user message and each utterance an assistant message; the last message is
    the last utterance, and message 2 + 2·i the i-th (from 0). For 'Unspecified' no goal is told,
    in either layout.
    """
    if layout is Layout.GOAL_FIRST and not goal.is_unspecified:
        messages = prompts.load("infer").messages(goal=goal.text)
    else:
        messages = prompts.load("infer_unspecified").messages()
    for question, utterance in dialog:
        messages += [Message("user", question), Message("assistant", utterance)]
    if layout is Layout.GOAL_LAST and not goal.is_unspecified and dialog:
        told = prompts.load("infer_goal_last").messages(question=dialog[-1][0], goal=goal.text)
        messages[-2:-1] = told
    return messages


def utterance_message(turn_index: int) -> int:
    """The index in a ``goal_first`` reading of the utterance with this index (from 0)."""
    return 2 + 2 * turn_index

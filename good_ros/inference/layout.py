"""How a goal and a dialog are laid out for the model: goal first, as a role-play (III-C)."""

from __future__ import annotations

from collections.abc import Sequence

from good_ros.core.goals import Goal
from good_ros.language import prompts
from good_ros.language.generator import Message


def role_play(goal: Goal, dialog: Sequence[tuple[str, str]]) -> list[Message]:
    """The chat in which the model plays a person with ``goal``.

    The system message tells the goal, or none for 'Unspecified'. Of each (question,
    utterance) the robot's question is a user message and the person's utterance an assistant
    message, so that message 2 + 2·i is the i-th utterance (from 0).
    """
    if goal.is_unspecified:
        messages = prompts.load("infer_unspecified").messages()
    else:
        messages = prompts.load("infer").messages(goal=goal.text)
    for question, utterance in dialog:
        messages += [Message("user", question), Message("assistant", utterance)]
    return messages


def utterance_message(turn_index: int) -> int:
    """The index in ``role_play`` of the utterance with this index (from 0)."""
    return 2 + 2 * turn_index

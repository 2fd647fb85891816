"""The engine's messages as typed failures.

Messages differ between releases in their details; a part of each is looked for, in order.
"""

from __future__ import annotations

from good_ros.core.plan import ErrorCode

PARTS: tuple[tuple[str, ErrorCode], ...] = (
    ("appears to be invalid", ErrorCode.NOT_FOUND),
    ("could not be found", ErrorCode.NOT_FOUND),
    ("not found within the specified visibility", ErrorCode.NOT_VISIBLE),
    ("not visible", ErrorCode.NOT_VISIBLE),
    ("not interactable", ErrorCode.NOT_INTERACTABLE),
    ("obstructed", ErrorCode.NOT_INTERACTABLE),
    ("has something in it already", ErrorCode.HAND_FULL),
    ("isn't holding anything", ErrorCode.HAND_EMPTY),
    ("nothing in hand", ErrorCode.HAND_EMPTY),
    ("full right now", ErrorCode.FULL),
    ("no valid positions to place", ErrorCode.FULL),
    ("collide", ErrorCode.BLOCKED),
    ("collision", ErrorCode.BLOCKED),
    ("clip into", ErrorCode.BLOCKED),
    ("in the way", ErrorCode.BLOCKED),
    ("put into itself", ErrorCode.INCOMPATIBLE),
    ("must be off to open", ErrorCode.WRONG_STATE),
    ("must be closed to toggle", ErrorCode.WRONG_STATE),
    ("is closed, can't place", ErrorCode.WRONG_STATE),
    ("is broken", ErrorCode.WRONG_STATE),
    ("already", ErrorCode.WRONG_STATE),
    ("agent's hand and cannot", ErrorCode.WRONG_STATE),
    ("controlled by another", ErrorCode.INCOMPATIBLE),
    ("not an openable", ErrorCode.INCOMPATIBLE),
    ("not openable", ErrorCode.INCOMPATIBLE),
    ("must have the property", ErrorCode.INCOMPATIBLE),
    ("does not have the property", ErrorCode.INCOMPATIBLE),
    ("not a receptacle", ErrorCode.INCOMPATIBLE),
    ("cannot be placed in", ErrorCode.INCOMPATIBLE),
    ("not a valid object type to be placed", ErrorCode.INCOMPATIBLE),
    ("not a toggleable", ErrorCode.INCOMPATIBLE),
    ("not fillable", ErrorCode.INCOMPATIBLE),
    ("not cookable", ErrorCode.INCOMPATIBLE),
    ("not breakable", ErrorCode.INCOMPATIBLE),
    ("not dirtyable", ErrorCode.INCOMPATIBLE),
    ("not moveable", ErrorCode.INCOMPATIBLE),
)


def code_of(message: str) -> ErrorCode:
    """The failure that a message of the engine's tells; NOT_INTERACTABLE where it tells none
    that is known."""
    text = message.lower()
    return next((code for part, code in PARTS if part in text), ErrorCode.NOT_INTERACTABLE)

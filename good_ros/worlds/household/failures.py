"""Why an action is not carried out, and the conditions that most actions share."""

from __future__ import annotations

from good_ros.core.plan import ErrorCode
from good_ros.worlds.household.state import ObjectState, SceneState


class ActionFailed(Exception):
    """An action that the world does not carry out; the state is unchanged.

    ``detail`` is the engine's own message where it is known.
    """

    def __init__(self, code: ErrorCode, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.detail = detail or message


def find(state: SceneState, object_id: str) -> ObjectState:
    """The object of an id. Raises ActionFailed NOT_FOUND, or NOT_INTERACTABLE where it has
    turned into pieces."""
    found = state.objects.get(object_id)
    if found is None:
        raise ActionFailed(
            ErrorCode.NOT_FOUND,
            f"there is no object {object_id!r}",
            f"Object ID {object_id} appears to be invalid.",
        )
    if not found.is_usable:
        raise ActionFailed(
            ErrorCode.NOT_INTERACTABLE,
            f"{found.name} is in pieces: use the pieces",
            f"{found.id} is visible but not interactable",
        )
    return found


def find_visible(state: SceneState, object_id: str) -> ObjectState:
    """The object of an id, which no closed receptacle hides. Raises ActionFailed."""
    found = find(state, object_id)
    require_visible(state, found)
    return found


def require_visible(state: SceneState, target: ObjectState) -> None:
    """Raises ActionFailed NOT_VISIBLE where a closed receptacle hides the object."""
    for parent in state.parents(target.id):
        if parent.is_closed:
            raise ActionFailed(
                ErrorCode.NOT_VISIBLE,
                f"{target.name} is in {parent.name}, which is closed",
                "Target object not found within the specified visibility.",
            )


def require(target: ObjectState, affordance: str, done: str, detail: str = "") -> None:
    """Raises ActionFailed INCOMPATIBLE where the object lacks the affordance; ``done`` is the
    action as a participle."""
    if not target.can(affordance):
        raise ActionFailed(
            ErrorCode.INCOMPATIBLE,
            f"{target.name} cannot be {done}",
            detail or f"{target.id} does not have the property {affordance}",
        )


def require_not(condition: bool, message: str, detail: str = "") -> None:
    """Raises ActionFailed WRONG_STATE where the condition holds."""
    if condition:
        raise ActionFailed(ErrorCode.WRONG_STATE, message, detail)

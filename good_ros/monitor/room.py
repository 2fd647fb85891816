"""The room of the current session from above, for the page."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from good_ros.core.errors import GoodError
from good_ros.core.plan import Step

if TYPE_CHECKING:
    from good_ros.worlds.arm.world import ArmWorld

DRAWN_WORLDS = ("household", "ai2thor")
"""Both act in the same rooms, by the same rules."""


class RoomPicture:
    """Draws the room as a session's record leaves it; thread-safe.

    ``problem`` says in one line why there is no picture, where one was asked for and none made.
    """

    def __init__(self, world: str, scene: str, seed: int) -> None:
        self.world = world
        self.scene = scene
        self.seed = seed
        self.problem = ""
        self._use = threading.Lock()
        self._drawn: tuple[Path | None, float, bytes] | None = None
        self._arm: ArmWorld | None = None
        self._done: tuple[Step, ...] = ()

    def picture(self, session: Path | None) -> tuple[str, bytes] | None:
        """The media type and the picture of whatever world there is, as ``svg`` gives it."""
        if self.world == "arm":
            drawn = self._rendered(session)
            return None if drawn is None else ("image/png", drawn)
        drawn = self.svg(session)
        return None if drawn is None else ("image/svg+xml", drawn)

    def _rendered(self, session: Path | None) -> bytes | None:
        """The arm at its table, after what the session's folder says was done."""
        with self._use:
            changed = _changed(session)
            if self._drawn is None or self._drawn[:2] != (session, changed):
                try:
                    self._drawn = (session, changed, self._render(session))
                except GoodError as error:
                    self.problem = str(error)
                    return None
            return self._drawn[2]

    def _render(self, session: Path | None) -> bytes:
        from good_ros.recording import steps_done
        from good_ros.worlds.arm.picture import pictures_of, simulated
        from good_ros.worlds.arm.world import ArmWorld

        recorded = session is not None and (session / "actions.jsonl").is_file()
        done = tuple(steps_done(session)) if session is not None and recorded else ()
        if self._arm is None:
            self._arm = ArmWorld()
            self._arm.reset(self.scene, self.seed)
            self._pictures = pictures_of(self._arm)
        if not self._done or done[: len(self._done)] != self._done:
            self._arm.reset(self.scene, self.seed)
            self._done = ()
        for step in done[len(self._done) :]:
            self._arm.act(step)
        self._done = done
        return self._pictures.png(simulated(self._arm))

    def svg(self, session: Path | None) -> bytes | None:
        """The picture after what the session's folder says was done; None where there is none."""
        if self.world not in DRAWN_WORLDS:
            return None
        with self._use:
            changed = _changed(session)
            if self._drawn is None or self._drawn[:2] != (session, changed):
                try:
                    self._drawn = (session, changed, self._draw(session))
                except GoodError as error:
                    self.problem = str(error)
                    return None
            return self._drawn[2]

    def _draw(self, session: Path | None) -> bytes:
        from good_ros.picture import as_svg
        from good_ros.worlds.household.world import HouseholdWorld

        room = HouseholdWorld()
        room.reset(self.scene, self.seed)
        recorded = session is not None and (session / "actions.jsonl").is_file()
        return as_svg(room, session if recorded else None)


def _changed(session: Path | None) -> float:
    """When the record of what was done last changed."""
    try:
        return (session / "actions.jsonl").stat().st_mtime if session is not None else 0.0
    except OSError:
        return 0.0

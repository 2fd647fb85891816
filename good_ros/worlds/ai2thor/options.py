"""How the Unity player is started and how long it is waited for."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from good_ros.core.errors import InputError, WorldError

UNITY, STAND_IN = "unity", "stand-in"
PLAYERS = (UNITY, STAND_IN)
SERVERS = ("fifo", "wsgi")
NO_DISPLAY = ":0"
"""Told to the player where there is no display; a headless one opens none, but the client
refuses to start without a name."""
FETCH = (
    'python -c "from ai2thor.controller import Controller; '
    'Controller(download_only=True, headless=True)"'
)
INSTALL = "pip install ai2thor==5.0.0"


@dataclass(frozen=True)
class Ai2thorOptions:
    """``build`` is the player's executable (empty: the one that ai2thor has downloaded),
    ``player`` an explicit ``stand-in`` in its place, ``display`` an X display (empty: that of
    the environment), ``server`` the protocol. Times are in seconds."""

    build: str = ""
    player: str = UNITY
    display: str = ""
    headless: bool = True
    server: str = "fifo"
    start_timeout_s: float = 120.0
    step_timeout_s: float = 60.0
    stand_in_arguments: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.player not in PLAYERS:
            raise InputError(f"there is no player {self.player!r}; there are {', '.join(PLAYERS)}")
        if self.server not in SERVERS:
            raise InputError(f"there is no server {self.server!r}; there are {', '.join(SERVERS)}")
        if self.start_timeout_s <= 0 or self.step_timeout_s <= 0:
            raise InputError("the time-outs of the player must be more than 0 seconds")

    def command(self) -> str:
        """The command line that starts the player, quoted for a shell.

        Raises WorldError where there is no player to start.
        """
        if self.player == STAND_IN:
            module = "good_ros.worlds.ai2thor.standin"
            return shlex.join([sys.executable, "-m", module, *self.stand_in_arguments])
        path = Path(self.build).expanduser() if self.build else downloaded_build()
        if path is None:
            raise WorldError(
                "AI2-THOR's Unity build is not on this machine; with internet access, run "
                f"{FETCH} once (several hundred MB), or name a build with `ai2thor_build`; "
                "`good world check --world ai2thor` says what else is missing"
            )
        if not path.is_file():
            raise WorldError(f"AI2-THOR's Unity build {path} is not there")
        if not os.access(path, os.X_OK):
            raise WorldError(f"AI2-THOR's Unity build {path} is not executable: chmod +x it")
        return shlex.quote(str(path))

    def x_display(self) -> str:
        """The display that the player is told of; never empty."""
        return self.display or os.environ.get("DISPLAY") or NO_DISPLAY


def releases_folder() -> Path:
    """Where ai2thor keeps what it downloads."""
    return Path.home() / ".ai2thor" / "releases"


def downloaded_build() -> Path | None:
    """The newest player that ai2thor has downloaded; those that need an X display come first."""
    found = [
        path
        for folder in releases_folder().glob("thor-*")
        if (path := folder / folder.name).is_file()
    ]
    return max(found, key=lambda p: ("Linux64" in p.name, p.stat().st_mtime), default=None)

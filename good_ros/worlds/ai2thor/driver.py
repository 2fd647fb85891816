"""The real Controller, with an end to every wait.

The client by itself can block for ever (a player that dies before it opens its pipe), spins
until its time-out after a crash, and cannot be used again after either. Here every call runs in
a thread of its own while the caller watches the player and the clock; when either gives out the
player is killed, whatever waits on its pipes is let go, and PlayerLost is raised.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import subprocess
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from good_ros.core.errors import WorldError, one_line
from good_ros.worlds.ai2thor.options import INSTALL, Ai2thorOptions

POLL_S = 0.02
"""How often the player is looked at while it is waited for."""
GRACE_S = 5.0
"""How long a call is waited for once its player is dead."""
LATER_S = 5.0
"""How much later than here the client's own time-outs come, so that it is we who end a wait."""
PROCEDURAL = "Procedural"
NOT_IN_BUILD = "not contained in build"
OWN_FAULTS = ("InvalidAction", "MissingArguments", "AmbiguousAction", "InvalidArgument")
"""Codes by which the engine says that an action was told wrongly, not that it failed."""

_log = logging.getLogger(__name__)


class PlayerLost(WorldError):
    """The player died, hangs or answers nonsense; it has been killed."""


class OwnFault(WorldError):
    """The engine refused the form of an action: the bridge is at fault, not the room."""


@dataclass(frozen=True)
class Answer:
    """What the engine said to one action."""

    success: bool
    message: str
    returned: Any
    metadata: Mapping[str, Any]


@dataclass
class _Call:
    function: Callable[[], Any]
    done: threading.Event = field(default_factory=threading.Event)
    result: Any = None
    error: BaseException | None = None


class Driver:
    """One Controller and its player, from start to close.

    Raises WorldError where the client is not installed or there is no player, PlayerLost where
    it does not start within ``options.start_timeout_s``.
    """

    def __init__(self, options: Ai2thorOptions, scene: str | dict[str, Any]) -> None:
        self.options = options
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._lost = ""
        self._server: Any = None
        controller_type, arguments = _arguments(options)
        # The object exists before its constructor runs, which is where it may block.
        self._controller: Any = object.__new__(controller_type)
        if options.headless:
            self._controller.unity_command = self._command_without_graphics
        threading.Thread(target=self._serve, daemon=True, name="ai2thor").start()
        first = scene if isinstance(scene, str) else PROCEDURAL
        try:
            self._ask(
                "start",
                options.start_timeout_s,
                lambda: self._controller.__init__(scene=first, **arguments),
            )
            if isinstance(scene, dict):
                self.reset(scene)
        except BaseException:
            self.close()
            raise

    @property
    def is_lost(self) -> bool:
        """Whether the player is dead; nothing but ``close`` can be done then."""
        return bool(self._lost) or self._exit_status() is not None

    @property
    def pid(self) -> int | None:
        """The player's process."""
        process = self._process()
        return process.pid if process is not None else None

    def reset(self, scene: str | dict[str, Any]) -> Answer:
        """Load a scene, or a procedural house. Raises PlayerLost, WorldError."""
        event = self._ask(
            "reset", self.options.start_timeout_s, lambda: self._controller.reset(scene)
        )
        answer = _answer(event)
        if not answer.success:
            raise WorldError(f"AI2-THOR cannot load the scene: {answer.message}")
        return answer

    def step(self, action: str, **arguments: Any) -> Answer:
        """Do one action of the engine's. Raises PlayerLost, OwnFault."""
        return _answer(
            self._ask(
                action,
                self.options.step_timeout_s,
                lambda: self._controller.step(action, **arguments),
            )
        )

    def last(self) -> Answer:
        """The answer to the last action."""
        return _answer(self._controller.last_event)

    def close(self) -> None:
        """End the player and free what the client holds; again is no error."""
        self._kill()
        self._calls.put(None)
        server = self._known_server()
        controller, self._controller = self._controller, None
        if controller is None:
            return
        # The client's handler at exit stops whatever server it then has.
        controller.server = _Stopped()
        controller.last_event = None
        if server is not None:
            with contextlib.suppress(Exception):
                server.stop()
            _free(server)

    def _ask(self, what: str, seconds: float, function: Callable[[], Any]) -> Any:
        """What the client answers; what it raises as one of our errors."""
        try:
            return self._call(function, seconds, what)
        except WorldError:
            raise
        except Exception as error:
            if NOT_IN_BUILD in str(error):
                raise WorldError(str(error).strip().partition("\n")[0]) from error
            if isinstance(error, ValueError) and self._refused_form():
                raise OwnFault(f"AI2-THOR does not take {what} so: {error}") from error
            if what == "start":
                raise self._give_up(f"could not be started ({_line(error)})", what) from error
            cause = _line(error.__cause__ or error.__context__ or error)
            raise self._give_up(f"gave an answer that cannot be used ({cause})", what) from error

    # The watch.

    def _serve(self) -> None:
        """Run the calls, one after the other."""
        while (call := self._calls.get()) is not None:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call.result = call.function()
            except BaseException as error:
                call.error = error
            call.done.set()

    def _call(self, function: Callable[[], Any], seconds: float, what: str) -> Any:
        if self._lost or self._controller is None:
            raise PlayerLost(self._lost or "the player was closed")
        call = _Call(function)
        self._calls.put(call)
        deadline = time.monotonic() + seconds
        while not call.done.wait(POLL_S):
            if (status := self._exit_status()) is not None and not call.done.wait(POLL_S):
                raise self._give_up(f"ended ({status})", what, call)
            if time.monotonic() > deadline:
                raise self._give_up(f"did not answer within {seconds:g} s", what, call)
        if call.error is None:
            return call.result
        if (status := self._exit_status()) is not None:
            raise self._give_up(f"ended ({status})", what) from call.error
        raise call.error

    def _give_up(self, reason: str, what: str, call: _Call | None = None) -> PlayerLost:
        """Kill the player and let go whatever waits for it; the error to raise."""
        self._lost = f"AI2-THOR's player {reason} in '{what}'; its log is {log_path()}"
        self._kill()
        if call is not None:
            self._let_go(call)
        _log.warning(self._lost)
        return PlayerLost(self._lost)

    def _let_go(self, call: _Call) -> None:
        """End a call whose player is dead: it may wait to open a pipe, or read one without end."""
        # A client of the WSGI kind would start another player.
        self._controller.start = _refuse_restart
        deadline = time.monotonic() + GRACE_S
        while not call.done.wait(POLL_S / 2) and time.monotonic() < deadline:
            self._kill()
            server = self._known_server()
            for path, flags in (
                (getattr(server, "server_pipe_path", None), os.O_WRONLY),
                (getattr(server, "client_pipe_path", None), os.O_RDONLY),
            ):
                if path is not None:
                    _poke(path, flags)
        if not call.done.is_set():
            _log.warning("a call of AI2-THOR's client does not end; its thread is left behind")

    def _command_without_graphics(self, width: int, height: int, headless: bool) -> list[str]:
        """The client's command line; where CUDA_VISIBLE_DEVICES is set it would look for the card
        with vulkaninfo, and fail without it, although nothing is drawn."""
        self._controller.gpu_device = None
        command = type(self._controller).unity_command(self._controller, width, height, headless)
        return list(command)

    def _known_server(self) -> Any:
        """The client's server, also after the client has let go of it; None before there is one."""
        self._server = getattr(self._controller, "server", None) or self._server
        return self._server

    def _process(self) -> subprocess.Popen[bytes] | None:
        server = self._known_server()
        process: subprocess.Popen[bytes] | None = getattr(server, "unity_proc", None)
        return process

    def _exit_status(self) -> str | None:
        """How the player ended; None while it runs or before it was started."""
        process = self._process()
        code = process.poll() if process is not None else None
        if code is None:
            return None
        return f"signal {-code}" if code < 0 else f"exit status {code}"

    def _kill(self) -> None:
        process = self._process()
        if process is None:
            return
        for pid in reversed(_descendants(process.pid)):
            with contextlib.suppress(OSError):
                os.kill(pid, 9)
        with contextlib.suppress(OSError):
            process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)

    def _refused_form(self) -> bool:
        event = getattr(self._controller, "last_event", None)
        return event is not None and event.metadata.get("errorCode") in OWN_FAULTS


class _Stopped:
    """In the place of a server that was stopped."""

    unity_proc = None

    def stop(self) -> None:
        """Nothing is left to stop."""


def log_path() -> Path:
    """Where the client writes what the player prints."""
    return Path.home() / ".ai2thor" / "log" / "unity.log"


def _arguments(options: Ai2thorOptions) -> tuple[Any, dict[str, Any]]:
    try:
        from ai2thor.controller import Controller
        from ai2thor.fifo_server import FifoServer
        from ai2thor.wsgi_server import WsgiServer
    except ImportError as error:
        raise WorldError(f"AI2-THOR's client is not installed: {INSTALL} ({error})") from error
    return Controller, {
        "local_executable_path": options.command(),
        "server_class": FifoServer if options.server == "fifo" else WsgiServer,
        "headless": options.headless,
        "x_display": options.x_display(),
        "server_timeout": max(options.step_timeout_s, options.start_timeout_s) + LATER_S,
        "server_start_timeout": options.start_timeout_s + LATER_S,
        "visibilityDistance": 1.5,
    }


def _answer(event: Any) -> Answer:
    metadata = event.metadata
    return Answer(
        bool(metadata["lastActionSuccess"]),
        str(metadata.get("errorMessage") or ""),
        metadata.get("actionReturn"),
        metadata,
    )


def _line(error: BaseException) -> str:
    """What an error says, in one line."""
    return one_line(error) or type(error).__name__


def _refuse_restart(*arguments: Any, **named: Any) -> None:
    raise PlayerLost("the player is not started again by the client")


def _poke(path: str, flags: int) -> None:
    """Open the other end of a pipe, so that an open or a read on it ends.

    255 begins the message that says 'end of message', so that a reader fails at once instead of
    reading an empty pipe until its time-out.
    """
    try:
        pipe = os.open(path, flags | os.O_NONBLOCK)
    except OSError:
        return
    with contextlib.suppress(OSError):
        if flags == os.O_WRONLY:
            os.write(pipe, b"\xff" * 4096)
    os.close(pipe)


def _free(server: Any) -> None:
    """What the client's own stop leaves behind: pipes, a thread, a socket."""
    with contextlib.suppress(Exception):
        server.tmp_dir.cleanup()
    wsgi = getattr(server, "wsgi_server", None)
    if wsgi is not None:
        ending = threading.Thread(target=wsgi.shutdown, daemon=True)
        ending.start()
        ending.join(GRACE_S)
        with contextlib.suppress(OSError):
            wsgi.server_close()


def _descendants(pid: int) -> list[int]:
    """The processes that a process started, and theirs (a build may be run by a script)."""
    found: list[int] = []
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return found
    for task in tasks:
        with contextlib.suppress(OSError, ValueError):
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *_descendants(child)]
    return found

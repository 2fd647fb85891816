"""The page's server: sends a session's sections to every visitor, and takes what they do.

It has a thread and an event loop of its own, so that it neither waits for the graph nor holds it
up. Sections go out as server-sent events: all of them to a visitor who comes, then those that
change.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from good_ros.core.errors import GoodError, InputError
from good_ros.core.json_values import finite
from good_ros.monitor.guard import BodyTooLong, Guard, is_loopback
from good_ros.monitor.report import page_text

FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
"""All that is served from the disk: a path that is not here is not found."""
WAITING = 64
"""Messages kept for a visitor who reads slowly; past that the whole session is sent anew."""
TOGETHER_S = 0.05
"""Changes within this time go out as one event: a turn's messages come in bursts, and each event
costs as much time as ten pages are open."""
HEARTBEAT_S = 15.0
"""Keeps proxies from closing a quiet connection, and finds visitors who are gone."""
ACTION_S = 20.0
"""How long a node may take to answer what a visitor did."""
TEACH_S = 300.0
"""As long as the teacher may take: it may have to ask a language model, and tries what it is
taught."""
START_S = 10.0


@dataclass(frozen=True)
class Outcome:
    """What became of something a visitor did; ``message`` says what is wrong."""

    success: bool
    message: str = ""


class Actions(Protocol):
    """What a visitor can do. Called from the server's thread; must return at once."""

    def say(self, text: str) -> Future[Outcome]: ...

    def approve(self, session_id: str, turn: int, approve: bool) -> Future[Outcome]: ...

    def edit_goals(self, edit: Mapping[str, list[str]]) -> Future[Outcome]: ...

    def answer_suggestion(
        self, session_id: str, suggestion_id: int, accept: bool
    ) -> Future[Outcome]: ...

    def teach(self, person_id: str, text: str) -> Future[Outcome]: ...


@dataclass(frozen=True)
class Picture:
    """A picture of the room: its media type (image/svg+xml, image/png) and content."""

    media_type: str
    content: bytes


def no_picture() -> Picture | None:
    """The room of a world that cannot be drawn."""
    return None


class Visitor:
    """One open page: the messages that it has not read yet."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[str | None] = asyncio.Queue(WAITING)
        self.behind = False

    def put(self, text: str | None) -> None:
        """Add a message; where there is no room, drop all and mark the visitor as behind."""
        if text is not None and (self.behind or self.queue.full()):
            self.behind = True
            return
        if self.queue.full():
            self.queue.get_nowait()
        self.queue.put_nowait(text)


class Hub:
    """The sections as JSON texts, and who is to hear of them. Lives in the server's thread."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.changed: set[str] = set()
        self.visitors: set[Visitor] = set()
        self.closed = False

    def update(self, texts: Mapping[str, str]) -> None:
        """Take new sections; they go out together with those that follow at once."""
        if not self.changed:
            asyncio.get_running_loop().call_later(TOGETHER_S, self.send)
        self.texts |= texts
        self.changed |= set(texts)

    def send(self) -> None:
        """Hand the sections that changed to every visitor."""
        if not self.changed:
            return
        message = as_object({name: self.texts[name] for name in sorted(self.changed)})
        self.changed.clear()
        for visitor in self.visitors:
            visitor.put(message)

    def close(self) -> None:
        self.closed = True
        for visitor in self.visitors:
            visitor.put(None)

    async def events(self) -> AsyncIterator[str]:
        """A visitor's stream of server-sent events, from coming to going."""
        # What waits to be sent is in the whole session already.
        self.send()
        visitor = Visitor()
        self.visitors.add(visitor)
        try:
            yield f"retry: 1000\ndata: {as_object(self.texts)}\n\n"
            while not self.closed:
                try:
                    text = await asyncio.wait_for(visitor.queue.get(), HEARTBEAT_S)
                except asyncio.TimeoutError:
                    yield ": still here\n\n"
                    continue
                if text is None:
                    return
                if visitor.behind and visitor.queue.empty():
                    visitor.behind, text = False, as_object(self.texts)
                yield f"data: {text}\n\n"
        finally:
            self.visitors.discard(visitor)


def as_object(texts: Mapping[str, str]) -> str:
    """One JSON object from JSON texts by name."""
    return "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in texts.items()) + "}"


class PageServer:
    """Serves the page until it is closed.

    ``port`` 0 takes a free one. Where ``host`` is more than this machine, a token is asked for;
    an empty ``token`` is then replaced by a random one. Raises InputError where it cannot listen.
    """

    def __init__(
        self,
        actions: Actions,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str = "",
        picture: Callable[[], Picture | None] = no_picture,
    ) -> None:
        self.actions = actions
        self.picture = picture
        local = is_loopback(host)
        self.token = token or ("" if local else secrets.token_urlsafe(16))
        self.hub = Hub()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._files = {
            path: (page_text(name).encode(), kind) for path, (name, kind) in FILES.items()
        }
        self._socket = listen(host, port)
        self.host = host
        self.port: int = self._socket.getsockname()[1]
        self._server = uvicorn.Server(
            uvicorn.Config(
                Guard(self._app(), local_only=local, token=self.token),
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                http="h11",
                loop="asyncio",
                server_header=False,
                timeout_graceful_shutdown=1,
                h11_max_incomplete_event_size=16 * 1024,
            )
        )
        self._thread = threading.Thread(target=self._run, name="page server", daemon=True)
        self._thread.start()
        if not self._ready.wait(START_S):
            raise GoodError(f"the page's server did not start within {START_S:g} s")

    @property
    def url(self) -> str:
        """Where the page is, without the token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"

    @property
    def entry_url(self) -> str:
        """The address that lets a visitor in."""
        return f"{self.url}?token={self.token}" if self.token else self.url

    def update(self, sections: Mapping[str, Any]) -> None:
        """Show these sections instead of those of the same names. Callable from any thread."""
        if sections and self._loop is not None:
            # Written out here: the sections may change while the other thread would read them.
            texts = {
                name: json.dumps(finite(value), ensure_ascii=False, separators=(",", ":"))
                for name, value in sections.items()
            }
            self._call(lambda: self.hub.update(texts))

    def processor_seconds(self) -> float:
        """Processor time that the server's thread has taken."""
        assert self._thread.ident is not None
        return time.clock_gettime(time.pthread_getcpuclockid(self._thread.ident))

    def close(self) -> None:
        """Say goodbye to the visitors and stop listening."""
        self._call(self.hub.close)
        self._server.should_exit = True
        self._thread.join(5.0)
        self._socket.close()

    def _call(self, action: Callable[[], None]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            try:
                self._loop.call_soon_threadsafe(action)
            except RuntimeError:
                # The loop ended in between; there is nobody to hear of it.
                return

    def _run(self) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            self._ready.set()
            await self._server.serve(sockets=[self._socket])

        asyncio.run(serve())

    # The page's addresses.

    def _app(self) -> Starlette:
        return Starlette(
            routes=[
                *(Route(path, self._file) for path in FILES),
                Route("/api/events", self._events),
                Route("/api/session", self._session),
                Route("/api/room", self._room),
                Route("/api/say", self._say, methods=["POST"]),
                Route("/api/approve", self._approve, methods=["POST"]),
                Route("/api/goals", self._edit_goals, methods=["POST"]),
                Route("/api/suggestion", self._suggestion, methods=["POST"]),
                Route("/api/teach", self._teach, methods=["POST"]),
            ],
            exception_handlers={
                InputError: lambda _, error: JSONResponse({"message": str(error)}, 400),
                BodyTooLong: too_long,
            },
        )

    async def _file(self, request: Request) -> Response:
        content, kind = self._files[request.url.path]
        return Response(content, media_type=kind)

    async def _events(self, request: Request) -> Response:
        return StreamingResponse(self.hub.events(), media_type="text/event-stream")

    async def _session(self, request: Request) -> Response:
        return Response(as_object(self.hub.texts), media_type="application/json")

    async def _room(self, request: Request) -> Response:
        picture = await asyncio.to_thread(self.picture)
        if picture is None:
            return Response(status_code=204)
        return Response(picture.content, media_type=picture.media_type)

    async def _say(self, request: Request) -> Response:
        fields = await body_of(request, {"text": str})
        return await outcome_of(self.actions.say(fields["text"]))

    async def _approve(self, request: Request) -> Response:
        fields = await body_of(request, {"session_id": str, "turn": int, "approve": bool})
        return await outcome_of(
            self.actions.approve(fields["session_id"], fields["turn"], fields["approve"])
        )

    async def _suggestion(self, request: Request) -> Response:
        kinds = {"session_id": str, "suggestion_id": int, "accept": bool}
        fields = await body_of(request, kinds)
        return await outcome_of(self.actions.answer_suggestion(**fields))

    async def _teach(self, request: Request) -> Response:
        fields = await body_of(request, {"person_id": str, "text": str})
        return await outcome_of(self.actions.teach(fields["person_id"], fields["text"]), TEACH_S)

    async def _edit_goals(self, request: Request) -> Response:
        fields = await body_of(request, {}, dict.fromkeys(("add", "remove", "pin", "unpin"), list))
        for name, items in fields.items():
            if not all(isinstance(item, str) for item in items):
                raise InputError(f"{name} must be a list of texts")
        return await outcome_of(self.actions.edit_goals(fields))


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises InputError that says why there can be none."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        result = socket.socket(family, socket.SOCK_STREAM)
        result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        result.bind((host, port))
        result.listen(128)
    except OSError as error:
        raise InputError(
            f"the page cannot be served on {host}, port {port} ({error.strerror or error}): set "
            "web_port to another port, or to 0 for any that is free"
        ) from error
    return result


async def body_of(
    request: Request, needed: Mapping[str, type], optional: Mapping[str, type] | None = None
) -> dict[str, Any]:
    """The fields of a JSON body. Raises InputError where one is missing, unknown or of a wrong
    type."""
    try:
        fields = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise InputError("the body is not JSON") from error
    kinds = {**needed, **(optional or {})}
    if not isinstance(fields, dict) or not set(needed) <= set(fields) <= set(kinds):
        raise InputError(f"the body must be an object of {', '.join(kinds)}")
    for name, value in fields.items():
        if type(value) is not kinds[name]:
            raise InputError(f"{name} must be of type {kinds[name].__name__}")
    return fields


async def too_long(request: Request, error: Exception) -> Response:
    """Refuse a body, and hang up rather than read the rest of it."""
    return JSONResponse({"message": "the body is too long"}, 413, {"connection": "close"})


async def outcome_of(future: Future[Outcome], timeout_s: float = ACTION_S) -> Response:
    """Wait for what becomes of an action: 200 where it was done, 409 where it was refused."""
    try:
        outcome = await asyncio.wait_for(asyncio.wrap_future(future), timeout_s)
    except asyncio.TimeoutError:
        return JSONResponse({"message": f"no node answered within {timeout_s:g} s"}, 504)
    return JSONResponse({"message": outcome.message}, 200 if outcome.success else 409)

"""Who may talk to the page's server: host, origin, token and size of each request.

A page on localhost can be reached by every web site that its user visits: a site may send
requests to it, and may rebind a name of its own to 127.0.0.1. So a request must name a host that
the server goes by, and, where a browser tells its origin, come from the page itself.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "good_ros_token"
BODY_LIMIT = 64 * 1024
"""Bytes; the longest that the page sends is an utterance of 1000 characters."""
HEADERS = (
    ("content-security-policy", "default-src 'none'; script-src 'self'; style-src 'self'; "
     "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
     "frame-ancestors 'none'"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
)  # fmt: skip


def is_loopback(host: str) -> bool:
    """Whether an address is this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """An ASGI layer that answers what is not allowed, and passes the rest to ``app``.

    ``token``: empty where none is asked for. It may come once as ``?token=``, which sets a
    cookie, or in each request's Authorization header (Bearer).
    """

    def __init__(self, app: App, *, local_only: bool, token: str) -> None:
        self.app = app
        self.local_only = local_only
        self.token = token
        self.cookie_value = hashlib.sha256(token.encode()).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        refusal = self.refusal(scope, headers)
        if refusal:
            status, why = refusal
            await answer(send, status, {"message": why})
        elif self.token and (given := _query_token(scope)) is not None:
            await self._enter(given, send)
        elif self.token and not self._is_known(headers):
            await answer(
                send,
                401,
                {"message": "a token is needed: open the address that the monitor logged"},
            )
        else:
            await self.app(scope, _limited(receive), _with_headers(send))

    def refusal(self, scope: Scope, headers: MutableMapping[str, str]) -> tuple[int, str] | None:
        """Status and reason where a request is refused whatever its token; else None."""
        host = headers.get("host", "")
        name = urlsplit(f"//{host}").hostname or ""
        if self.local_only and not is_loopback(name):
            return 403, f"the page goes by localhost here, not by {name or 'no name'}"
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, "a request from another origin is refused"
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and (
            scope["method"] != "GET" or scope["path"].startswith("/api/")
        ):
            return 403, "a request from another site is refused"
        if scope["method"] == "POST":
            kind = headers.get("content-type", "").split(";")[0].strip()
            if kind != "application/json":
                return 415, "the body must be application/json"
        try:
            length = int(headers.get("content-length", "0"))
        except ValueError:
            return 400, "content-length is no number"
        if length > BODY_LIMIT:
            return 413, f"the body is over {BODY_LIMIT} bytes"
        return None

    def _is_known(self, headers: MutableMapping[str, str]) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._matches(given.strip()):
            return True
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value, self.cookie_value)

    def _matches(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    async def _enter(self, given: str, send: Send) -> None:
        if not self._matches(given):
            await answer(send, 401, {"message": "the token is wrong"})
            return
        cookie = f"{COOKIE}={self.cookie_value}; HttpOnly; SameSite=Strict; Path=/"
        await answer(send, 303, {}, (("location", "/"), ("set-cookie", cookie)))


def _query_token(scope: Scope) -> str | None:
    values = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token")
    return values[0] if values else None


class BodyTooLong(Exception):
    """More came than a request may hold, whatever its content-length said."""


def _limited(receive: Receive) -> Receive:
    read = 0

    async def limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > BODY_LIMIT:
            raise BodyTooLong
        return message

    return limited


def _with_headers(send: Send) -> Send:
    extra = [(name.encode(), value.encode()) for name, value in HEADERS]

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *extra]
        await send(message)

    return with_headers


async def answer(
    send: Send, status: int, content: Any, headers: tuple[tuple[str, str], ...] = ()
) -> None:
    """A whole small JSON answer. The connection ends with it, so that no body is waited for."""
    body = json.dumps(content).encode()
    fields = (
        *HEADERS,
        ("content-type", "application/json"),
        ("content-length", str(len(body))),
        ("connection", "close"),
        *headers,
    )
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.encode(), value.encode()) for name, value in fields],
        }
    )
    await send({"type": "http.response.body", "body": body})

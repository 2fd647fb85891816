"""The player's side of its two protocols: named pipes (FIFO) and HTTP (WSGI)."""

from __future__ import annotations

import http.client
import json
import os
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO, Protocol

METADATA, ACTION, END = 1, 2, 255
HEADER = struct.Struct("!BI")
BOUNDARY = "stand-in"

Envelope = Mapping[str, Any]


class Line(Protocol):
    """The connection to the client."""

    def say_hello(self, envelope: Envelope) -> None:
        """The unasked first message."""

    def hear(self) -> dict[str, Any] | None:
        """The next action; None where the client is gone or ends the player."""

    def say(self, envelope: Envelope) -> None:
        """Answer the action that was heard."""

    def say_bytes(self, raw: bytes) -> None:
        """Answer with what may be no message."""

    def cut(self, envelope: Envelope) -> None:
        """Say the first half of an answer."""


class Fifo:
    """Header (type, length) and body, each message ended by type 255."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._out_path = environment["AI2THOR_FIFO_SERVER_PIPE_PATH"]
        self._in_path = environment["AI2THOR_FIFO_CLIENT_PIPE_PATH"]
        self._out: BinaryIO | None = None
        self._in: BinaryIO | None = None

    def say_hello(self, envelope: Envelope) -> None:
        self._out = open(self._out_path, "wb", buffering=0)  # noqa: SIM115
        self.say(envelope)

    def hear(self) -> dict[str, Any] | None:
        if self._in is None:
            self._in = open(self._in_path, "rb")  # noqa: SIM115
        action: dict[str, Any] | None = None
        while True:
            header = self._in.read(HEADER.size)
            if len(header) < HEADER.size:
                return None
            kind, length = HEADER.unpack(header)
            if kind == END:
                return action
            body = self._in.read(length)
            if len(body) < length:
                return None
            if kind == ACTION:
                action = json.loads(body)

    def say(self, envelope: Envelope) -> None:
        self.say_bytes(self._message(envelope))

    def say_bytes(self, raw: bytes) -> None:
        assert self._out is not None
        view = memoryview(raw)
        while view:
            view = view[self._out.write(view) :]

    def cut(self, envelope: Envelope) -> None:
        message = self._message(envelope)
        self.say_bytes(message[: len(message) // 2])

    @staticmethod
    def _message(envelope: Envelope) -> bytes:
        import msgpack

        body = msgpack.packb(envelope, use_bin_type=True)
        return HEADER.pack(METADATA, len(body)) + body + HEADER.pack(END, 0)


class Wsgi:
    """Each answer is a POST; what comes back is the next action, none to end."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._token = environment["AI2THOR_CLIENT_TOKEN"]
        self._client = http.client.HTTPConnection(
            environment["AI2THOR_HOST"], int(environment["AI2THOR_PORT"])
        )
        self._next: dict[str, Any] | None = None

    def say_hello(self, envelope: Envelope) -> None:
        self.say(envelope)

    def hear(self) -> dict[str, Any] | None:
        return self._next

    def say(self, envelope: Envelope) -> None:
        self._post(self._body(envelope))

    def say_bytes(self, raw: bytes) -> None:
        self._post(raw)

    def cut(self, envelope: Envelope) -> None:
        body = self._body(envelope)
        self._client.putrequest("POST", "/train")
        self._client.putheader("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")
        self._client.putheader("Content-Length", str(len(body)))
        self._client.endheaders(body[: len(body) // 2])

    def _post(self, body: bytes) -> None:
        headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        try:
            self._client.request("POST", "/train", body, headers)
            answer = self._client.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self._next = None
            return
        action = json.loads(text) if answer.status == 200 and text else None
        self._next = action if action and action.get("action") else None

    def _body(self, envelope: Envelope) -> bytes:
        parts = []
        for name, text in (("metadata", json.dumps(envelope)), ("token", self._token)):
            parts.append(
                f"--{BOUNDARY}\r\n"
                f'Content-disposition: form-data; name="{name}"\r\n'
                "Content-Type: text/plain; charset=utf-8\r\n\r\n"
                f"{text}\r\n"
            )
        return ("".join(parts) + f"--{BOUNDARY}--\r\n").encode()


def connect(environment: Mapping[str, str] = os.environ) -> Line:
    """The line that the client's environment asks for."""
    return Fifo(environment) if environment["AI2THOR_SERVER_TYPE"] == "FIFO" else Wsgi(environment)

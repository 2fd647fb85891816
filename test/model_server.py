"""A server on loopback that answers as an OpenAI-compatible one does, or fails as real ones do."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """Answers chat requests by a script of steps: a text, a status code, a body as bytes,
    'hang', 'drop', 'endless', or 'no schema' and 'no tools', which it refuses. The last step is
    repeated. ``listing`` is the answer to /models: a body, a status code or 'trickle'."""

    daemon_threads = True

    def __init__(self, *script: str | int | bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = list(script)
        self.requests: list[dict] = []
        self.headers: list[str] = []
        self.listing: dict | int | bytes | str = {"object": "list", "data": [{"id": "served"}]}
        self.asked = threading.Event()
        self.released = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        listing = self.server.listing
        if listing == "trickle":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "100000")
            self.end_headers()
            for _ in range(1000):
                if self.server.released.wait(0.02):
                    break
                self.wfile.write(b" ")
            self.close_connection = True
        elif isinstance(listing, int):
            self.answer(listing, {"error": {"message": f"status {listing}"}})
        else:
            self.answer(200, listing)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(json.loads(body))
        self.server.headers.append(self.headers["Authorization"])
        self.server.asked.set()
        script = self.server.script
        step = script.pop(0) if len(script) > 1 else script[0]
        if step == "hang":
            self.server.released.wait(20)
            self.close_connection = True
        elif step == "drop":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"choices": [')
            self.close_connection = True
        elif step == "endless":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.write_until_released()
        elif step == "no schema":
            self.answer(400, {"error": {"message": "response_format is not supported"}})
        elif step == "no tools":
            self.answer(400, {"error": {"message": "tools are not supported"}})
        elif isinstance(step, int):
            message = f"status {step}, key {self.headers['Authorization']}"
            self.answer(step, {"error": {"message": message}})
        else:
            self.answer(200, step if isinstance(step, bytes) else completion(step))

    def write_until_released(self) -> None:
        self.close_connection = True
        try:
            while not self.server.released.wait(0.02):
                self.wfile.write(b"a" * 100)
        except OSError:
            """The client has given up."""

    def answer(self, code: int, body: dict | bytes) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def completion(text: str) -> dict:
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "served",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }

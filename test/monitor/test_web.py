"""The page's server over real sockets: what it serves, what it refuses, what visitors see."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from concurrent.futures import Future

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from good_ros.core.errors import InputError
from good_ros.monitor.guard import BODY_LIMIT, is_loopback
from good_ros.monitor.web import WAITING, Hub, Outcome, PageServer, Picture, Visitor

pytestmark = pytest.mark.timeout(60)


class ScriptedActions:
    """Notes what visitors do and answers with ``outcome``."""

    def __init__(self):
        self.done = []
        self.outcome = Outcome(True)

    def _answer(self, *what):
        self.done.append(what)
        future = Future()
        future.set_result(self.outcome)
        return future

    def say(self, text):
        return self._answer("say", text)

    def approve(self, session_id, turn, approve):
        return self._answer("approve", session_id, turn, approve)

    def edit_goals(self, edit):
        return self._answer("goals", dict(edit))

    def answer_suggestion(self, session_id, suggestion_id, accept):
        return self._answer("suggestion", session_id, suggestion_id, accept)

    def teach(self, person_id, text):
        return self._answer("teach", person_id, text)


class Client:
    """One request at a time, with the headers that a browser's page of the server would send."""

    def __init__(self, server):
        self.server = server

    def request(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        connection.putrequest(method, path, skip_host=True)
        fields = {"host": f"127.0.0.1:{self.server.port}"}
        if body is not None:
            fields |= {"content-type": "application/json", "content-length": str(len(body))}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in fields.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders()
        if body is not None:
            connection.send(body)
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        return reply.status, content, dict(reply.getheaders())

    def post(self, path, fields, **headers):
        status, content, _ = self.request("POST", path, json.dumps(fields).encode(), **headers)
        return status, json.loads(content)["message"]


@pytest.fixture
def actions():
    return ScriptedActions()


@pytest.fixture
def server(actions):
    result = PageServer(actions)
    yield result
    result.close()


@pytest.fixture
def client(server):
    return Client(server)


def events(server, **headers):
    """A stream of server-sent events as a generator of their data."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", "/api/events", headers=headers)
    reply = connection.getresponse()
    assert reply.status == 200
    try:
        while line := reply.readline():
            if line.startswith(b"data: "):
                yield json.loads(line[6:])
    finally:
        connection.close()


def test_the_page_comes_whole_and_with_headers_that_confine_it(client):
    starts = {"/": b"<!doctype html>", "/page.js": b'"use strict"', "/page.css": b":root"}
    for path, start in starts.items():
        status, content, headers = client.request("GET", path)
        assert status == 200
        assert content.startswith(start)
        assert "default-src 'none'" in headers["content-security-policy"]
        assert b"http://" not in content.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"https://" not in content


def test_a_late_visitor_sees_all_and_then_what_changes(server):
    server.update({"turns": [{"turn": 1}], "belief": {"entropy": float("nan")}})
    stream = events(server)
    assert next(stream) == {"turns": [{"turn": 1}], "belief": {"entropy": None}}
    server.update({"belief": {"entropy": 0.5}})
    assert next(stream) == {"belief": {"entropy": 0.5}}
    later = next(events(server))
    assert later == {"turns": [{"turn": 1}], "belief": {"entropy": 0.5}}


def test_what_visitors_do_is_handed_on(client, actions):
    assert client.post("/api/say", {"text": "hello"}) == (200, "")
    assert client.post("/api/approve", {"session_id": "s", "turn": 2, "approve": False})[0] == 200
    assert client.post("/api/goals", {"add": ["tea made"], "pin": ["g1"]})[0] == 200
    fields = {"session_id": "s", "suggestion_id": 1, "accept": True}
    assert client.post("/api/suggestion", fields)[0] == 200
    assert client.post("/api/teach", {"person_id": "anna", "text": "my goal is tea"})[0] == 200
    assert actions.done == [
        ("say", "hello"),
        ("approve", "s", 2, False),
        ("goals", {"add": ["tea made"], "pin": ["g1"]}),
        ("suggestion", "s", 1, True),
        ("teach", "anna", "my goal is tea"),
    ]
    actions.outcome = Outcome(False, "no plan waits")
    assert client.post("/api/approve", {"session_id": "s", "turn": 2, "approve": True}) == (
        409,
        "no plan waits",
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 30000,
        b"null",
        b'"text"',
        b"{}",
        b'{"text": 5}',
        b'{"text": null}',
        b'{"text": "a", "more": 1}',
        b"\xff\xfe",
    ],
)
def test_a_body_that_is_not_as_asked_for_is_refused_with_one_line(client, actions, body):
    status, content, _ = client.request("POST", "/api/say", body)
    assert status == 400
    assert "\n" not in json.loads(content)["message"]
    assert actions.done == []


def test_a_truth_value_is_no_turn_and_a_list_holds_texts_only(client, actions):
    fields = {"session_id": "s", "turn": True, "approve": True}
    assert client.post("/api/approve", fields)[0] == 400
    assert client.post("/api/goals", {"add": [1]})[0] == 400
    fields = {"session_id": "s", "suggestion_id": True, "accept": True}
    assert client.post("/api/suggestion", fields)[0] == 400
    assert client.post("/api/teach", {"person_id": "anna"})[0] == 400
    assert actions.done == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://elsewhere.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"host": "elsewhere.example"}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_another_origin_is_refused(client, actions, headers, status):
    body = json.dumps({"text": "open the door"}).encode()
    assert client.request("POST", "/api/say", body, **headers)[0] == status
    assert actions.done == []


@pytest.mark.parametrize("path", ["/api/session", "/api/events", "/"])
def test_nothing_is_read_from_another_origin_or_by_a_rebound_name(client, server, path):
    assert client.request("GET", path, origin="https://elsewhere.example")[0] == 403
    assert client.request("GET", path, host=f"rebound.example:{server.port}")[0] == 403


def test_the_page_itself_is_let_in(client, server, actions):
    origin = f"http://127.0.0.1:{server.port}"
    assert client.post("/api/say", {"text": "a"}, origin=origin, sec_fetch_site="same-origin") == (
        200,
        "",
    )
    # A link from another site may lead to the page, but not to its data.
    assert client.request("GET", "/", sec_fetch_site="cross-site")[0] == 200
    assert client.request("GET", "/api/session", sec_fetch_site="cross-site")[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "/../web.py",
        "/page/../../web.py",
        "/%2e%2e/web.py",
        "/..%2f..%2fetc%2fpasswd",
        "//etc/passwd",
        "/page.html",
        "/page",
        "/web.py",
        "/.git/config",
        "/api/",
    ],
)
def test_a_path_outside_the_files_is_not_found(client, path):
    status, content, _ = client.request("GET", path)
    assert status == 404
    assert b"root:" not in content
    assert b"import" not in content


def test_ten_megabytes_are_refused_by_their_announced_length(client, actions, server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(
            f"POST /api/say HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\ncontent-type: "
            f"application/json\r\ncontent-length: {10 * 2**20}\r\n\r\n".encode()
        )
        # It is answered before a byte of the body was sent.
        assert connection.recv(100).startswith(b"HTTP/1.1 413")
    assert actions.done == []


def test_ten_megabytes_in_chunks_are_refused_while_they_come(client, actions, server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(
            f"POST /api/say HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\ncontent-type: "
            "application/json\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        )
        sent = 0
        try:
            while sent < 10 * 2**20:
                connection.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
                sent += 0x10000
        except OSError:
            pass  # The server hung up in the middle, as it should.
        assert sent < 10 * 2**20
    assert actions.done == []
    assert client.post("/api/say", {"text": "still there"})[0] == 200


def test_the_longest_utterance_fits(client):
    assert len(json.dumps({"text": "ü" * 1000})) < BODY_LIMIT
    assert client.post("/api/say", {"text": "ü" * 1000})[0] == 200


@pytest.fixture
def locked(actions):
    result = PageServer(actions, token="open sesame")
    yield result
    result.close()


def test_without_the_token_nothing_is_shown_or_done(locked, actions):
    client = Client(locked)
    for path in ("/", "/page.js", "/api/session", "/api/events", "/api/room"):
        assert client.request("GET", path)[0] == 401
        assert client.request("GET", path, authorization="Bearer wrong")[0] == 401
        assert client.request("GET", path, cookie="good_ros_token=wrong")[0] == 401
        assert client.request("GET", f"{path}?token=wrong")[0] == 401
    assert client.post("/api/say", {"text": "a"})[0] == 401
    assert client.post("/api/say?token=wrong", {"text": "a"})[0] == 401
    assert actions.done == []


def test_the_token_lets_in_by_address_cookie_or_header(locked):
    client = Client(locked)
    status, _, headers = client.request("GET", "/?token=open%20sesame")
    assert (status, headers["location"]) == (303, "/")
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=Strict" in headers["set-cookie"]
    cookie = headers["set-cookie"].split(";")[0]
    assert client.request("GET", "/", cookie=cookie)[0] == 200
    assert client.request("GET", "/api/session", authorization="Bearer open sesame")[0] == 200
    assert locked.token in locked.entry_url
    assert locked.token not in locked.url


def test_beyond_this_machine_there_is_always_a_token(actions):
    server = PageServer(actions, host="0.0.0.0")
    try:
        assert len(server.token) > 15
        client = Client(server)
        assert client.request("GET", "/", host="robot.local:80")[0] == 401
        entry = f"/?token={server.token}"
        assert client.request("GET", entry, host="robot.local:80")[0] == 303
    finally:
        server.close()


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("localhost", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("192.168.1.5", False),
        ("localhost.elsewhere.example", False),
        ("", False),
    ],
)
def test_which_addresses_are_this_machine_alone(host, local):
    assert is_loopback(host) is local


def test_a_port_that_is_taken_is_named_with_what_to_do(server, actions):
    with pytest.raises(InputError, match=f"port {server.port} .*set web_port"):
        PageServer(actions, port=server.port)


def test_a_picture_is_shown_where_there_is_one(client, actions):
    assert client.request("GET", "/api/room")[0] == 204
    server = PageServer(actions, picture=lambda: Picture("image/svg+xml", b"<svg/>"))
    try:
        status, content, headers = Client(server).request("GET", "/api/room")
        assert (status, content, headers["content-type"]) == (200, b"<svg/>", "image/svg+xml")
    finally:
        server.close()


def test_closing_ends_the_streams(actions):
    server = PageServer(actions)
    stream = events(server)
    next(stream)
    server.close()
    assert list(stream) == []
    server.update({"turns": []})


def test_a_visitor_who_reads_slowly_is_sent_the_whole_session_anew():
    hub = Hub()
    hub.texts = {"a": "1", "b": "2"}
    visitor = Visitor()
    hub.visitors.add(visitor)
    for _ in range(2 * WAITING):
        hub.changed.add("b")
        hub.send()
    assert visitor.behind
    assert visitor.queue.qsize() == WAITING
    visitor.put(None)
    assert visitor.queue.qsize() == WAITING


def test_changes_that_come_together_go_out_together():
    async def talk():
        hub = Hub()
        visitor = Visitor()
        hub.visitors.add(visitor)
        for value in range(50):
            hub.update({"a": str(value), "b": str(2 * value)})
        first = await visitor.queue.get()
        hub.update({"b": "7"})
        return first, await visitor.queue.get(), visitor.queue.empty()

    assert asyncio.run(talk()) == ('{"a":49,"b":98}', '{"b":7}', True)

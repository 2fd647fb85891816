"""Having another node speak, with stand-ins for the action and its client."""

import threading
from types import SimpleNamespace

import pytest

from good_ros.nodes import speech_action
from good_ros.nodes.speech_action import TtsClient

pytestmark = pytest.mark.ros


def test_a_text_that_is_cut_off_before_its_server_took_it_is_not_spoken(monkeypatch):
    sent, done = [], []

    class Client:
        def __init__(self, node, action, name):
            pass

        def server_is_ready(self):
            return True

        def send_goal_async(self, goal):
            return SimpleNamespace(add_done_callback=sent.append)

    monkeypatch.setattr(speech_action, "ActionClient", Client)
    node = SimpleNamespace(worker=SimpleNamespace(post=lambda callback: callback()))
    action = SimpleNamespace(Goal=lambda **fields: fields)
    stop = threading.Event()
    stop.set()
    TtsClient(node, action, "say").say("Hello.", "en", stop, lambda: done.append("began"))
    handle = SimpleNamespace(accepted=True, cancel_goal_async=lambda: done.append("cancelled"))
    (accepted,) = sent
    accepted(SimpleNamespace(result=lambda: handle))
    assert done == ["cancelled"]

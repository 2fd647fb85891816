"""A running stack with scripted models, and a probe that hears everything."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rclpy.node import Node
from std_msgs.msg import String

from good_ros.core.goals import UNSPECIFIED_TEXT
from good_ros.inference.scripted_scorer import ScriptedScorer
from good_ros.language.generator import Message
from good_ros.language.scripted import ScriptedGenerator
from good_ros.msg import (
    GoalBelief,
    GoalSet,
    Question,
    Suggestion,
    TaskStatus,
    Transcript,
    Utterance,
)
from good_ros.nodes.qos import LATCHED_STREAM, SPEECH_OUT
from good_ros.nodes.stack import Stack, StackOptions

WAIT_S = 30.0


class Probe(Node):
    """Hears all topics; ``heard`` holds their messages by topic, in order."""

    TOPICS = (
        ("question", Question),
        ("transcript", Transcript),
        ("transcript_past", Transcript),
        ("goals", GoalSet),
        ("goal_belief", GoalBelief),
        ("task_status", TaskStatus),
        ("suggestion", Suggestion),
    )

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__("probe", **node_arguments)
        self.heard: dict[str, list[Any]] = {topic: [] for topic, _ in self.TOPICS}
        for topic, kind in self.TOPICS:
            self.create_subscription(kind, topic, self.heard[topic].append, LATCHED_STREAM)
        self.utterance = self.create_publisher(Utterance, "utterance", SPEECH_OUT)
        self.speech_text = self.create_publisher(String, "speech_text", SPEECH_OUT)

    def last(self, topic: str) -> Any:
        return self.heard[topic][-1] if self.heard[topic] else None

    def settled(self) -> list[Any]:
        return [b for b in self.heard["goal_belief"] if b.settled]

    def asked(self, turn: int) -> bool:
        """Whether the question of a turn is out."""
        return any(q.turn == turn and q.expects_reply for q in self.heard["question"])

    def ended_turn(self, turn: int) -> bool:
        """Whether the executor has reported on a turn."""
        return any(
            s.turn == turn and s.state >= TaskStatus.NO_ACTION for s in self.heard["task_status"]
        )

    def say(self, text: str, utterance_id: str = "", **fields: Any) -> None:
        fields = {"confidence": -1.0, "is_final": True, **fields}
        self.utterance.publish(Utterance(utterance_id=utterance_id, text=text, **fields))


class ScriptedStack:
    """A stack of real nodes whose models are scripted.

    ``script`` gives by node name what its generator says; ``scores`` by (goal, utterance) the
    log-likelihood in nats, for 'Unspecified' too.
    """

    def __init__(
        self,
        monkeypatch: Any,
        tmp_path: Any,
        script: Mapping[str, Sequence[Any]],
        scores: Mapping[tuple[str, str], float],
        *,
        failures: int = 0,
        nodes: Sequence[str] | None = None,
        namespace: str = "",
        **parameters: Any,
    ) -> None:
        from good_ros.node_names import NODES

        self.generators = {name: ScriptedGenerator(lines) for name, lines in script.items()}
        self.scorer = ScriptedScorer(scores, failures)
        for name in ("dialog", "goal_manager", "executor"):
            generator = self.generators.setdefault(name, ScriptedGenerator([]))
            monkeypatch.setattr(f"good_ros.nodes.{name}.make_generator", lambda *_, g=generator: g)
        monkeypatch.setattr("good_ros.nodes.goal_belief.make_scorer", lambda *_, **__: self.scorer)
        common = {"sessions_folder": str(tmp_path / "sessions"), **parameters}
        options = StackOptions(nodes or NODES, namespace, parameters={"*": common})
        self.stack = Stack(options)
        self.probe = Probe(context=self.stack.context, namespace=namespace or None)
        self.stack.add(self.probe)

    def __enter__(self) -> ScriptedStack:
        try:
            self.stack.start()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        self.stack.close()

    def restart(self, name: str) -> None:
        """A node begins anew, as after a kill: it knows what is latched, and what it kept."""
        node = self.stack.nodes[name]
        for change in ("deactivate", "cleanup", "configure", "activate"):
            getattr(node, f"trigger_{change}")()

    def wait(self, condition: Callable[[], bool], what: str, timeout_s: float = WAIT_S) -> None:
        """Run the graph until ``condition`` holds; fails with ``what`` was waited for."""
        assert self.stack.spin(condition, timeout_s), f"waited {timeout_s:g} s for {what}"

    def wait_asked(self, turn: int) -> None:
        self.wait(lambda: self.probe.asked(turn), f"the question of turn {turn}")

    def wait_turn(self, turn: int) -> None:
        self.wait(lambda: self.probe.ended_turn(turn), f"the end of turn {turn}")

    def turn(self, turn: int, text: str) -> None:
        """Wait for the question, answer it, and wait for the executor's report."""
        self.wait_asked(turn)
        self.probe.say(text, f"u{turn}")
        self.wait_turn(turn)


BREAD = "the bread put in the fridge"
KNIFE = "the knife put in the sink"
SAID = "The bread should be cold"


def all_fit(messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
    """The model's verdict that no goal is to be removed."""
    return json.dumps(dict.fromkeys(schema["properties"], "fits"))


def bread_script() -> dict[str, list[Any]]:
    """One turn that puts the bread in the fridge, and the question of a second one."""
    return {
        "dialog": ["What should I move?", "And now?", "And then?"],
        "goal_manager": [json.dumps([BREAD, KNIFE, "tea made"]), all_fit, all_fit],
        "executor": [json.dumps(["put Bread in Fridge"])],
    }


def bread_scores(*utterances: str) -> dict[tuple[str, str], float]:
    goals = {UNSPECIFIED_TEXT: -20.0, BREAD: -10.0, KNIFE: -22.0, "tea made": -23.0}
    return {(g, u): value for u in utterances or (SAID,) for g, value in goals.items()}


def messages_text(messages: Sequence[Message]) -> str:
    return "\n".join(message.content for message in messages)

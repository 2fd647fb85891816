"""Topics that more than one part names: those that make up a session, and the arm's stop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from good_ros.msg import GoalBelief, GoalSet, Question, Suggestion, TaskStatus, Transcript

STOP_TOPIC = "stop"
"""std_msgs/Bool: halts the arm, or with false lets it move again."""

STREAM_TOPICS: Mapping[str, tuple[str, Any]] = {
    "transcript_past": ("transcript_past", Transcript),
    "transcript": ("transcript", Transcript),
    "questions": ("question", Question),
    "goals": ("goals", GoalSet),
    "beliefs": ("goal_belief", GoalBelief),
    "status": ("task_status", TaskStatus),
    "suggestions": ("suggestion", Suggestion),
}
"""Kind (``good_ros.recording``) to topic and type."""

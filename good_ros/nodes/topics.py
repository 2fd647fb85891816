"""The topics that make up a session, by the record's kind of their messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from good_ros.msg import GoalBelief, GoalSet, Question, Suggestion, TaskStatus, Transcript

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

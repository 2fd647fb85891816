"""Every quality-of-service profile of the stack, in one place (design: names table)."""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy


def _last(depth: int, *, latched: bool = False, reliable: bool = True) -> QoSProfile:
    """Keep the last ``depth`` messages; ``latched`` for late joiners as well."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


LATCHED = _last(1, latched=True)
"""For publishers of state: a late joiner gets the last message. Published on change only."""

LATCHED_STREAM = _last(100, latched=True)
"""For every subscriber to LATCHED topics: none is skipped while the node is busy, nor put out of
its place by one of another session."""

LATCHED_BLOCKS = _last(128, latched=True)
"""For what is published in pieces, each once: a late joiner gets them all (a session has at most
100 blocks)."""

SPEECH_IN = _last(10, reliable=False)
"""Asks for the least, so that it matches all four reliability and durability pairs a speech
front end may publish with (rosbridge_suite #1022). Nothing said before the node was there is
heard."""

SPEECH_OUT = _last(10)
"""For utterances that a node of this package publishes."""

DIAGNOSTICS = _last(10)
"""What tools that show diagnostics subscribe with."""

MARKERS = _last(20, latched=True)
"""Latched, but deep: a deletion that the next array overwrote would leave its bar for ever."""

COMMAND = _last(10)
"""What ros2_control's controllers take commands with, and what stops the arm."""

SENSOR = _last(10)
"""Joint states, as joint_state_broadcaster publishes them."""

"""Every quality-of-service profile of the stack, in one place (design: names table)."""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

LATCHED = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""For publishers of state: a late joiner gets the last message. Published on change only."""

LATCHED_STREAM = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""For every subscriber to LATCHED topics: none is skipped while the node is busy, nor put out of
its place by one of another session."""

LATCHED_BLOCKS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=128,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""For what is published in pieces, each once: a late joiner gets them all (a session has at most
100 blocks)."""

SPEECH_IN = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.VOLATILE,
)
"""Asks for the least, so that it matches all four reliability and durability pairs a speech
front end may publish with (rosbridge_suite #1022). Nothing said before the node was there is
heard."""

SPEECH_OUT = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""For utterances that a node of this package publishes."""

DIAGNOSTICS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""What tools that show diagnostics subscribe with."""

MARKERS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=20,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""Latched, but deep: a deletion that the next array overwrote would leave its bar for ever."""

COMMAND = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""What ros2_control's controllers take commands with, and what stops the arm."""

SENSOR = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""Joint states, as joint_state_broadcaster publishes them."""

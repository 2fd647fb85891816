"""Which nodes make up the stack: the one list that launch files, set-up and CLI use."""

NODES = ("dialog", "goal_belief", "goal_manager", "executor", "monitor")
"""The nodes of a running stack, in the order in which they are configured."""

SPEECH_NODES = ("speech_in", "speech_out", "speech_adapters")
EXTRA_NODES = ("simulated_human", "teacher", *SPEECH_NODES)
"""Nodes that are started beside a stack where they are wanted."""

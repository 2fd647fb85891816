"""The order of a turn: which message each node answers, and which are lost, late or repeated.

A turn is question, utterance, belief (pass 1), goal edit, settled belief, action, status
(GOOD, Algorithm 1). Every message carries its session, its turn and, where it depends on the
goals, the version of the goal set; these classes hold the last of each and say what is due.
"""

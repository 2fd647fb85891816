"""A stand-in for AI2-THOR's Unity player, for tests and for trying things out.

It speaks the player's protocols and answers from the household's rules; it has no physics and
no pictures. It is started only where it is asked for by name.
"""

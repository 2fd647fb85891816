"""Profiles of people, and (later) the experiments that are run with them."""

"""Subcommands of ``good`` that are more than a few lines."""

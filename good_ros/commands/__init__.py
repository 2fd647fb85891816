"""Subcommands of ``good`` that have modules of their own."""

"""The subcommands of ``good`` that have a module of their own."""

"""The tasks of PROMST from their rules, and adapters to those that are packages of their own."""

"""PROMST, and what it is compared with, in one harness."""

"""A node as a process of its own, with a scripted model in place of a language model.

For tests that kill nodes: ``python scripted_node.py NAME --ros-args …``.
"""

from __future__ import annotations

import importlib
import sys
from unittest import mock

from good_ros.nodes import monitor_bench as bench

SAY = {"dialog": bench._question, "goal_manager": bench._goals, "executor": bench._plan}


def main() -> int:
    name = sys.argv.pop(1)
    module = importlib.import_module(f"good_ros.nodes.{name}")
    if name in SAY:
        generator = bench.working_generator(lambda: None, SAY[name])
        mock.patch.object(module, "make_generator", return_value=generator).start()
    if name == "goal_belief":
        scorer = bench.WorkingScorer(lambda: None)
        mock.patch.object(module, "make_scorer", return_value=scorer).start()
    return int(module.main())


if __name__ == "__main__":
    raise SystemExit(main())

"""Imports every entry point (``nodes``), or every module of the library where there is no ROS
(``library``), with heavy libraries absent; prints what it ran with."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAVY = (
    *("torch", "transformers", "llama_cpp", "huggingface_hub", "ai2thor", "mujoco", "mink"),
    *("faster_whisper", "sounddevice", "sklearn", "gepa", "matplotlib"),
)
ROS = ("rclpy", "std_msgs", "rcl_interfaces")


def modules(kind: str) -> list[str]:
    """The modules to import, as their dotted names."""
    if kind == "nodes":
        from good_ros.node_names import EXTRA_NODES, NODES

        return ["good_ros.cli", *(f"good_ros.nodes.{name}" for name in (*NODES, *EXTRA_NODES))]
    found = []
    for path in sorted((ROOT / "good_ros").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if "nodes" not in parts and parts[-1] not in ("__main__",):
            found.append(".".join(part for part in parts if part != "__init__"))
    return found


def main() -> int:
    kind = sys.argv[1]
    for name in HEAVY:
        sys.modules[name] = None  # type: ignore[assignment]
    if kind == "library":
        for name in ROS:
            try:
                importlib.import_module(name)
            except ImportError:
                continue
            print(f"{name} is here: this is no environment without ROS", file=sys.stderr)
            return 1
    failed = []
    names = modules(kind)
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {error}")
    import numpy

    for line in failed:
        print(line, file=sys.stderr)
    print(f"{len(names) - len(failed)} of {len(names)} modules ({kind}), numpy {numpy.__version__}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())

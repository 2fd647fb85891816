"""Writes docs/parameters.md from the nodes' declarations; with --check only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from good_ros.node_names import EXTRA_NODES, NODES
from good_ros.nodes.parameters import EVERY_NODE, Parameter
from good_ros.nodes.stack import node_type

PATH = Path(__file__).parents[1] / "docs" / "parameters.md"
HEAD = """# Parameters

Written by `make docs-parameters` from the nodes' declarations. Every node reads its parameters
when it is configured; `config/good.yaml` is an example of a parameter file.
"""


def row(parameter: Parameter) -> str:
    limits = ""
    if parameter.minimum is not None and parameter.maximum is not None:
        limits = f"{parameter.minimum} to {parameter.maximum}"
    elif parameter.choices:
        limits = " or ".join(parameter.choices)
    default = "(empty)" if parameter.default in ("", [""]) else f"`{parameter.default}`"
    return f"| `{parameter.name}` | {default} | {limits} | {parameter.description} |"


def text() -> str:
    parts = [HEAD]
    for name in (*NODES, *EXTRA_NODES):
        parts.append(f"\n## {name}\n\n| name | default | range | what it is |\n|---|---|---|---|\n")
        parameters = (*EVERY_NODE, *node_type(name).PARAMETERS)
        parts.append("\n".join(row(parameter) for parameter in parameters) + "\n")
    return "".join(parts)


def main() -> int:
    if "--check" in sys.argv:
        if PATH.read_text() == text():
            return 0
        print("docs/parameters.md is out of date: run make docs-parameters", file=sys.stderr)
        return 1
    PATH.write_text(text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

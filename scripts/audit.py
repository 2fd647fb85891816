"""Looks the packages of .venv up among known vulnerabilities, with pip-audit from .venv-audit.

Fails on a vulnerability that requirements/audit_explained.yaml does not explain. Where the advisory
service cannot be reached nothing can be said: that is one clear line and no failure, so that a
machine without the internet can still run everything else.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
EXPLAINED = ROOT / "requirements" / "audit_explained.yaml"
TOOL = ROOT / ".venv-audit" / "bin" / "pip-audit"
UNREACHABLE = (
    "ConnectionError",
    "ConnectTimeout",
    "NameResolutionError",
    "Max retries exceeded",
    "ServiceError",
    "timed out",
)
NOT_THERE = "not found on PyPI"
LONGEST_S = 600


def ask() -> tuple[dict[str, Any], str]:
    """pip-audit's report on .venv, empty where it gave none, and what it said beside."""
    asked = subprocess.run(
        [
            *(str(TOOL), "--format", "json", "--progress-spinner", "off", "--timeout", "15"),
            *("--skip-editable", "--path"),
            *map(str, (ROOT / ".venv" / "lib").glob("python3.*/site-packages")),
        ],
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
    )
    try:
        return json.loads(asked.stdout), asked.stderr
    except ValueError:
        return {}, asked.stderr


def judge(
    report: Mapping[str, Any], said: str, explained: Mapping[str, str]
) -> tuple[int, list[str]]:
    """The exit status, and the lines to print."""
    packages = report.get("dependencies", [])
    looked_up = [p for p in packages if "vulns" in p]
    skipped = [p for p in packages if "vulns" not in p]
    if not packages and any(sign in said for sign in UNREACHABLE):
        return 0, ["audit: SKIPPED, since the advisory service cannot be reached from here"]
    if not packages:
        return 1, ["audit: pip-audit gave no report:", *said.strip().splitlines()[-3:]]
    if not looked_up and any(NOT_THERE in p.get("skip_reason", "") for p in skipped):
        # An index that only serves files answers so for every package, pip itself included.
        return 0, [
            "audit: SKIPPED, since the advisory service cannot be reached from here: it knows none "
            f"of {len(skipped)} packages"
        ]
    lines, found = [], 0
    for package in looked_up:
        for vulnerability in package["vulns"]:
            names = {vulnerability["id"], *vulnerability.get("aliases", [])}
            reason = next((explained[n] for n in sorted(names) if n in explained), "")
            found += not reason
            fixed = ", ".join(vulnerability.get("fix_versions", [])) or "no version yet"
            lines.append(
                f"audit: {package['name']} {package['version']}: {vulnerability['id']}, fixed in "
                f"{fixed}{'; explained: ' + reason if reason else ''}"
            )
    if skipped:
        lines.append(f"audit: not known there: {', '.join(p['name'] for p in skipped)}")
    lines.append(f"audit: {len(looked_up)} packages looked up, {found} vulnerabilities unexplained")
    return (1 if found else 0), lines


def main() -> int:
    report, said = ask()
    status, lines = judge(report, said, yaml.safe_load(EXPLAINED.read_text()) or {})
    print("\n".join(lines), file=sys.stderr)
    return status


if __name__ == "__main__":
    raise SystemExit(main())

"""Looks for keys and passwords in the files that git has, and fails on one that .secrets.baseline
does not name.

    python scripts/check_secrets.py            # every file of the checkout
    python scripts/check_secrets.py FILE…
    python scripts/check_secrets.py --write    # accept what there is, after you have looked at it
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from detect_secrets import SecretsCollection
from detect_secrets.core import baseline
from detect_secrets.settings import default_settings, transient_settings

ROOT = Path(__file__).parents[1]
BASELINE = ROOT / ".secrets.baseline"
SKIPPED = (".png", ".gif", ".gz", ".secrets.baseline")


def committed() -> list[str]:
    """The files that git has, relative to the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    return [name for name in listed.stdout.split("\0") if name and not name.endswith(SKIPPED)]


def scan(names: list[str]) -> SecretsCollection:
    """What looks like a secret in these files, whose paths are relative to the checkout.

    A secret is told apart by its path too, so the scan runs in the checkout: the baseline then
    holds wherever that lies.
    """
    found = SecretsCollection()
    with contextlib.chdir(ROOT):
        for name in names:
            found.scan_file(name)
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    names = [os.path.relpath(Path(f).absolute(), ROOT) for f in options.files] or committed()
    if options.write:
        with default_settings():
            baseline.save_to_file(scan(names), str(BASELINE))
        return 0
    text = json.loads(BASELINE.read_text())
    known = baseline.load(text, str(BASELINE))
    chosen = {k: text[k] for k in ("plugins_used", "filters_used")}
    with transient_settings(chosen):
        new = scan(names) - known
    count = 0
    for name, secret in new:
        count += 1
        print(f"{name}:{secret.line_number}: {secret.type}", file=sys.stderr)
    if count:
        print(
            "If it is a key, take it out and revoke it, since git keeps it; if it is none: "
            "scripts/check_secrets.py --write",
            file=sys.stderr,
        )
    return 1 if count else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""A recorded session as one HTML page that needs nothing else: the live page, with its data in."""

from __future__ import annotations

import html
import json
from importlib import resources
from pathlib import Path

from good_ros import recording
from good_ros.core.errors import InputError
from good_ros.monitor.session import SessionView


def page_text(name: str) -> str:
    """A file of the page, as it is shipped."""
    return (resources.files("good_ros.monitor") / "page" / name).read_text(encoding="utf-8")


def session_sections(folder: Path) -> SessionView:
    """The view of a recorded session. Raises InputError where the folder is none."""
    try:
        about = json.loads((folder / "session.json").read_text())
    except (OSError, ValueError) as error:
        raise InputError(f"{folder} is not a session's folder: {error}") from error
    view = SessionView(str(about.get("namespace", "")))
    view.begin(str(about.get("session_id", "")))
    view.load(recording.read_all(folder))
    return view


def report(folder: Path) -> str:
    """The page. Raises InputError where the folder is no session's."""
    view = session_sections(folder)
    data = json.dumps(recording.finite(view.sections), ensure_ascii=False)
    # Within a script element only these could end it, or begin a comment that hides its end.
    data = data.replace("<", "\\u003c")
    page = page_text("page.html")
    for old, new in (
        ('<link rel="icon" href="/icon.svg" type="image/svg+xml">\n', ""),
        (
            '<link rel="stylesheet" href="/page.css">',
            f"<style>\n{page_text('page.css')}</style>",
        ),
        (
            '<script src="/page.js"></script>',
            f'<script id="recorded" type="application/json">{data}</script>\n'
            f"<script>\n{page_text('page.js')}</script>",
        ),
        (
            "<title>good_ros: what the robot believes</title>",
            f"<title>good_ros: session {html.escape(view.session_id)}</title>",
        ),
    ):
        if old not in page:
            raise AssertionError(f"the page has no {old!r} to replace")
        page = page.replace(old, new, 1)
    return page

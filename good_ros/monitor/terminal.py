"""A session's sections drawn for a terminal (rich): what ``good watch`` shows."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from good_ros.monitor.session import Sections
from good_ros.view import BAR_WIDTH, bar

TURNS_SHOWN = 4
STATES = {
    "IDLE": "waiting",
    "PLANNING": "planning …",
    "EXECUTING": "acting …",
    "WAITING_APPROVAL": "waits for approval",
    "NO_ACTION": "no action",
    "SUCCEEDED": "done what was planned",
    "FAILED": "failed",
    "DONE": "the task is completed",
}
LEVEL_STYLES = {"OK": "green", "WARN": "yellow", "ERROR": "red", "STALE": "magenta"}
SPARKS = "▁▂▃▄▅▆▇█"


def session_panel(sections: Sections) -> RenderableType:
    """The whole session, one panel below the other."""
    session = sections["session"]
    if not session["id"]:
        return Text("no session is running yet", style="dim")
    parts = [_belief(sections), _talk(sections), _plan(sections)]
    if sections["nodes"]:
        parts.append(_nodes(sections["nodes"]))
    return Group(*parts)


def spark(values: list[float]) -> str:
    """A row of blocks, as high as the values are against the highest."""
    most = max(values, default=0.0)
    if most <= 0:
        return SPARKS[0] * len(values)
    return "".join(SPARKS[round(value / most * (len(SPARKS) - 1))] for value in values)


def _belief(sections: Sections) -> RenderableType:
    belief = sections["belief"]
    title = f"session {sections['session']['id']}"
    if belief is None:
        return Panel(Text("nothing has been said yet", style="dim"), title=title)
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right")
    table.add_column(min_width=BAR_WIDTH, no_wrap=True)
    table.add_column()
    for hypothesis in belief["hypotheses"]:
        unspecified = hypothesis["id"] == "unspecified"
        share = hypothesis["probability"] or 0.0
        table.add_row(
            f"{share:.1%}",
            Text(bar(share), style="yellow" if unspecified else "cyan"),
            Text(hypothesis["text"]),
        )
    entropies = [entry["entropy"] or 0.0 for entry in sections["history"]]
    facts = Text(style="dim")
    facts.append(f"turn {belief['turn']}{'' if belief['settled'] else ', pass 1'} · entropy ")
    facts.append(f"{spark(entropies)} {belief['entropy'] or 0.0:.2f} nats · {belief['model']} · ")
    facts.append(f"{belief['seconds'] or 0.0:.1f} s")
    return Panel(Group(table, facts), title=title, title_align="left")


def _talk(sections: Sections) -> RenderableType:
    lines: list[Text] = []
    turns = sections["turns"]
    if len(turns) > TURNS_SHOWN:
        lines.append(Text(f"… {len(turns) - TURNS_SHOWN} earlier turns", style="dim"))
    for turn in turns[-TURNS_SHOWN:]:
        lines.append(Text.assemble((f"{turn['turn']:>3} ", "dim"), ("Robot: ", "blue")))
        lines[-1].append(turn["question"])
        lines.append(Text.assemble("    ", ("Human: ", "green"), turn["utterance"]))
    question = sections["question"]
    if question and (not turns or question["turn"] > turns[-1]["turn"]):
        lines.append(Text.assemble("    ", ("Robot: ", "blue"), question["text"]))
    if sections["session"]["ended"]:
        lines.append(Text(f"the session ended: {sections['session']['end_reason']}", style="bold"))
    return Panel(Group(*lines), title="conversation", title_align="left")


def _plan(sections: Sections) -> RenderableType:
    status: dict[str, Any] | None = sections["status"]
    if status is None:
        return Panel(Text("no plan yet", style="dim"), title="plan", title_align="left")
    words = STATES.get(status["state"], status["state"])
    lines = [Text(f"{words}: {status['error_msg']}" if status["error_msg"] else words)]
    done = set()
    for result in status["done"]:
        sign = ("  ✓ ", "green") if result["success"] else ("  ✗ ", "red")
        why = result["effect"] if result["success"] else result["error_msg"]
        lines.append(Text.assemble(sign, result["label"], (f" — {why}" if why else "", "dim")))
        if result["success"]:
            done.add(result["label"])
    if status["state"] in ("PLANNING", "EXECUTING", "WAITING_APPROVAL"):
        lines += [Text(f"  ○ {label}") for label in status["plan"] if label not in done]
    lines += [
        Text.assemble(("  ? ", "yellow"), offer["text"])
        for offer in sections["suggestions"]
        if offer["waits"]
    ]
    return Panel(Group(*lines), title="plan", title_align="left")


def _nodes(nodes: dict[str, Any]) -> RenderableType:
    line = Text()
    for name, node in sorted(nodes.items()):
        line.append("● ", style=LEVEL_STYLES.get(node["level"], "dim"))
        line.append(name)
        if node["level"] != "OK":
            line.append(f" {node['message']}", style="dim")
        line.append("  ")
    return Panel(line, title="nodes", title_align="left")

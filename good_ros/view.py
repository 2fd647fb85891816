"""The belief and what is done about it, drawn for a terminal (rich)."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from good_ros.core.belief import Belief
from good_ros.core.plan import StepResult, TaskState, TaskStatus

BAR_WIDTH = 30


def bar(probability: float, width: int = BAR_WIDTH) -> str:
    """A bar of eighth blocks; ``probability`` in 0..1 fills ``width`` cells."""
    eighths = round(max(0.0, min(1.0, probability)) * width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + ("▏▎▍▌▋▊▉"[rest - 1] if rest else "")


def belief_panel(belief: Belief) -> RenderableType:
    """The hypotheses as bars, most likely first, with the entropy below."""
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right")
    table.add_column(min_width=BAR_WIDTH, no_wrap=True)
    table.add_column()
    for hypothesis in belief.hypotheses:
        style = "yellow" if hypothesis.goal.is_unspecified else "cyan"
        table.add_row(
            f"{hypothesis.probability:6.1%}",
            Text(bar(hypothesis.probability), style=style),
            hypothesis.goal.text,
        )
    facts = (
        f"entropy {belief.entropy:.2f} nats · {belief.model} · {belief.seconds:.1f} s · "
        f"{belief.tokens_scored} tokens read, {belief.tokens_reused} reused"
    )
    title = f"belief after turn {belief.turn}" + ("" if belief.settled else " (pass 1)")
    return Panel(Group(table, Text(facts, style="dim")), title=title, title_align="left")


def step_line(result: StepResult) -> Text:
    """One step with its verified effect, or why it failed."""
    if result.success:
        return Text.assemble(("  ✓ ", "green"), result.step.label, (f" — {result.effect}", "dim"))
    return Text.assemble(
        ("  ✗ ", "red"), result.step.label, (f" — {result.error_code.name}: {result.error_msg}")
    )


def waiting_lines(status: TaskStatus) -> RenderableType:
    """A plan that waits for approval, and why."""
    steps = "; ".join(step.label for step in status.plan)
    lines = [Text.assemble(("  ? ", "yellow"), f"May I: {steps}")]
    lines += [Text(f"    because {reason}", style="dim") for reason in status.approval_reasons]
    lines.append(Text("    yes or no", style="dim"))
    return Group(*lines)


def status_lines(status: TaskStatus) -> RenderableType:
    """What the executor did in the status' turn."""
    lines: list[RenderableType] = [
        step_line(result) for result in status.history if result.turn == status.turn
    ]
    words = {
        TaskState.NO_ACTION: "no action",
        TaskState.SUCCEEDED: "done what was planned",
        TaskState.FAILED: f"failed ({status.error_code.name}): {status.error_msg}",
        TaskState.DONE: "the task is completed",
    }
    for words_of, is_true in status.conditions:
        lines.append(Text(f"  {'☑' if is_true else '☐'} {words_of}", style="dim"))
    if status.state in words:
        style = "red" if status.state is TaskState.FAILED else "bold"
        lines.append(Text(f"  → {words[status.state]}", style=style))
    return Group(*lines)

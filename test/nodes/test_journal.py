"""What dialog keeps on disk, and how it goes on with it."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from good_ros.core.errors import InputError
from good_ros.core.plan import Step, StepResult, TaskState, TaskStatus
from good_ros.nodes import journal
from good_ros.nodes.journal import Journal
from good_ros.turns.dialog import DialogFlow, Phase

pytestmark = pytest.mark.ros
EVENTS = ("ask", "hear", "report", "withdraw", "drop", "aside")


def happen(flow: DialogFlow, event: str, number: int) -> None:
    """One thing that happens to a conversation, where it can."""
    try:
        if event == "ask" and flow.phase is Phase.QUESTION:
            flow.ask(f"question {number}?", float(number), number % 3 > 0)
        elif event == "hear":
            flow.check_new(f"words {number}", f"id {number}")
            flow.hear(f"words {number}", float(number), "ann", f"id {number}")
        elif event == "report" and flow.phase is Phase.STATUS:
            session_id, turn = flow.transcript.session_id, flow.transcript.turn
            step = StepResult(Step("OpenObject", "Box_1"), True, "Box is open", turn=turn)
            flow.report(TaskStatus(session_id, turn, TaskState.SUCCEEDED, history=(step,)))
        elif event == "withdraw":
            flow.withdraw_turn("never mind")
        elif event == "drop":
            flow.drop_held()
        elif event == "aside":
            flow.hear_aside(f"id {number}")
    except InputError:
        pass


def state(flow: DialogFlow):
    return flow.transcript, flow.standing(), flow.heard_ids, flow.all_asked


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(EVENTS), max_size=40), st.booleans())
def test_a_conversation_goes_on_as_it_stood(tmp_path, events, begins_anew):
    kept = Journal(tmp_path / "dialog.jsonl")
    flow = DialogFlow("s", 50)
    kept.begin(flow)
    for number, event in enumerate(events):
        happen(flow, event, number)
        kept.keep(flow)
        if begins_anew and number == len(events) // 2:
            kept.begin(flow)
    again = journal.load(kept.path, 50)
    assert again is not None
    assert state(again) == state(flow)
    assert not again.report(TaskStatus("another", 1, TaskState.SUCCEEDED))


def test_a_line_that_was_cut_short_is_left_out(tmp_path):
    kept = Journal(tmp_path / "dialog.jsonl")
    flow = DialogFlow("s")
    kept.begin(flow)
    flow.ask("What?", 1.0)
    kept.keep(flow)
    with kept.path.open("a") as file:
        file.write('{"turn": {"tu')
    again = journal.load(kept.path, 20)
    assert again is not None
    assert (again.question, again.phase) == ("What?", Phase.REPLY)


@pytest.mark.parametrize("content", ["", "\n", "no json\n", '{"session_id": "s"}\n', "[]\n", "7\n"])
def test_a_file_that_is_no_journal_begins_nothing(tmp_path, content):
    path = tmp_path / "dialog.jsonl"
    path.write_text(content)
    assert journal.load(path, 20) is None
    assert journal.load(tmp_path / "none", 20) is None


def test_a_session_that_ended_does_not_go_on(tmp_path):
    kept = Journal(tmp_path / "dialog.jsonl")
    flow = DialogFlow("s")
    kept.begin(flow)
    flow.end("the person asked to stop")
    kept.keep(flow)
    assert journal.load(kept.path, 20) is None


def test_what_is_written_does_not_grow_with_the_session(tmp_path):
    kept = Journal(tmp_path / "dialog.jsonl")
    flow = DialogFlow("s", 1000)
    kept.begin(flow)
    sizes = []
    for turn in range(1, 101):
        before = kept.path.stat().st_size
        for event in ("ask", "hear", "report"):
            happen(flow, event, 1000 + 3 * turn)
            kept.keep(flow)
        sizes.append(kept.path.stat().st_size - before)
    assert len(flow.transcript.turns) == 100
    assert max(sizes[50:]) <= max(sizes[:50]) + 20

"""What a long session publishes, put together again in whatever order it comes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.core.dialog import Transcript, Turn, TurnOutcome
from good_ros.core.plan import Step, StepResult, TaskState, TaskStatus
from good_ros.turns.window import (
    BLOCK,
    STATUS_TURNS,
    WINDOW,
    WholeHistory,
    WholeTranscript,
    block,
    blocks_of,
    steps_of_last_turns,
    window,
)


def transcript(turns: int, session: str = "s") -> Transcript:
    return Transcript(session, tuple(Turn(n, f"q{n}", f"u{n}") for n in range(1, turns + 1)))


def step(turn: int, number: int = 1) -> StepResult:
    return StepResult(Step("OpenObject", f"Box_{turn}_{number}"), True, turn=turn)


@given(st.integers(0, 1000))
def test_a_window_is_bounded_and_its_blocks_are_the_rest(turns):
    whole = transcript(turns)
    shown = window(whole)
    assert len(shown.turns) <= WINDOW
    assert turns <= WINDOW or len(shown.turns) > WINDOW - BLOCK
    past = [turn for n in range(1, blocks_of(turns) + 1) for turn in block(whole, n).turns]
    assert (*past, *shown.turns) == whole.turns


@given(st.integers(0, 200), st.randoms(use_true_random=False))
def test_a_late_joiner_gets_the_whole_in_any_order(turns, random):
    """DDS keeps the order of one topic, not of two."""
    whole = transcript(turns)
    pieces = [window(whole), *(block(whole, n) for n in range(1, blocks_of(turns) + 1))]
    random.shuffle(pieces)
    reader = WholeTranscript()
    heard = []
    for piece in pieces:
        is_window = piece == window(whole)
        heard.append(reader.hear(piece) if is_window else reader.hear_block(piece))
    assert [found for found in heard if found is not None] == [whole]


def test_whoever_was_there_needs_no_block():
    reader = WholeTranscript()
    for turns in range(3 * WINDOW):
        assert reader.hear(window(transcript(turns))) == transcript(turns)
    assert reader.hear_block(block(transcript(3 * WINDOW), 1)) is None


def test_the_last_turn_may_change():
    whole = transcript(WINDOW + 3)
    reader = WholeTranscript()
    for turns in range(WINDOW + 4):
        reader.hear(window(transcript(turns)))
    acted = replace(whole.turns[-1], outcome=TurnOutcome.ACTED)
    changed = replace(whole, turns=(*whole.turns[:-1], acted), ended=True)
    assert reader.hear(window(changed)) == changed


def test_blocks_of_another_session_are_not_mixed_in():
    reader = WholeTranscript()
    assert reader.hear_block(block(transcript(WINDOW + 1, "old"), 1)) is None
    new = transcript(WINDOW + 1, "new")
    assert reader.hear(window(new)) is None
    assert reader.hear_block(block(transcript(WINDOW + 1, "old"), 1)) is None
    assert reader.hear_block(block(new, 1)) == new


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_statuses_of_every_turn_give_the_whole_history(counts):
    done: tuple[StepResult, ...] = ()
    history = WholeHistory()
    for turn, count in enumerate(counts, 1):
        done += tuple(step(turn, n) for n in range(count))
        shown = steps_of_last_turns(done, turn)
        assert all(result.turn > turn - STATUS_TURNS for result in shown)
        history.hear(TaskStatus("s", turn, TaskState.SUCCEEDED, history=shown))
        assert history.steps == done


def test_a_step_that_was_undone_is_replaced():
    history = WholeHistory()
    kept = tuple(step(turn) for turn in range(1, 15))
    for turn in range(1, 15):
        shown = steps_of_last_turns(kept[:turn], turn)
        history.hear(TaskStatus("s", turn, TaskState.SUCCEEDED, history=shown))
    undone = replace(kept[-1], success=False, error_msg="undone")
    shown = steps_of_last_turns((*kept[:-1], undone), 14)
    assert history.hear(TaskStatus("s", 14, TaskState.FAILED, history=shown)) == 4
    assert history.steps == (*kept[:-1], undone)


def test_a_status_that_carries_everything_is_taken_at_its_word():
    """Sessions without a graph hand over the executor's own statuses."""
    done = tuple(step(turn) for turn in range(1, 31))
    history = WholeHistory()
    history.hear(TaskStatus("s", 30, TaskState.SUCCEEDED, history=done))
    assert history.steps == done


def test_another_session_begins_with_nothing():
    history = WholeHistory()
    history.hear(TaskStatus("s", 1, TaskState.SUCCEEDED, history=(step(1),)))
    history.hear(TaskStatus("t", 1, TaskState.NO_ACTION))
    assert history.steps == ()


@pytest.mark.parametrize("turns", [WINDOW, WINDOW + 1])
def test_a_prompt_tells_of_the_last_turns(turns):
    text = transcript(turns).as_text()
    assert text.count("Human:") == 20
    assert ("earlier turns are left out" in text) is (turns > 20)

"""The dialog's side of a turn."""

import pytest

from good_ros.core.dialog import TurnOutcome
from good_ros.core.errors import InputError
from good_ros.core.plan import Step, StepResult, TaskState, TaskStatus
from good_ros.turns.dialog import DialogFlow, Held, Phase


def status(turn: int, state: TaskState, session: str = "s", history=()) -> TaskStatus:
    return TaskStatus(session, turn, state, history=tuple(history))


def asked(flow: DialogFlow, question: str = "What now?") -> DialogFlow:
    flow.ask(question, now=1.0)
    return flow


def test_a_turn_goes_from_question_to_report():
    flow = asked(DialogFlow("s"))
    turn = flow.hear("put the bread away", now=2.0)
    assert (turn.turn, turn.question, turn.utterance) == (1, "What now?", "put the bread away")
    assert (turn.asked, turn.answered) == (1.0, 2.0)
    assert flow.phase is Phase.STATUS
    done = StepResult(Step("OpenObject", "Fridge|1"), True, "Fridge_1 is open", turn=1)
    assert flow.report(status(1, TaskState.SUCCEEDED, history=[done]))
    assert flow.transcript.turns[0].outcome is TurnOutcome.ACTED
    assert flow.transcript.turns[0].actions == (done,)
    assert flow.phase is Phase.QUESTION
    assert flow.next_turn == 2


def test_only_actions_of_the_turn_are_kept_with_it():
    flow = asked(DialogFlow("s"))
    flow.hear("a", now=2.0)
    old = StepResult(Step("OpenObject", "Fridge|1"), True, turn=7)
    flow.report(status(1, TaskState.NO_ACTION, history=[old]))
    assert flow.transcript.turns[0].actions == ()
    assert flow.history == (old,)


@pytest.mark.parametrize(
    "message",
    [
        status(2, TaskState.SUCCEEDED),
        status(1, TaskState.SUCCEEDED, session="another"),
        status(1, TaskState.PLANNING),
        status(1, TaskState.EXECUTING),
    ],
)
def test_reports_of_other_turns_sessions_and_stages_are_not_the_turns_end(message):
    flow = asked(DialogFlow("s"))
    flow.hear("a", now=2.0)
    assert not flow.report(message)
    assert flow.phase is Phase.STATUS


def test_a_report_of_another_session_or_a_turn_to_come_is_foreign():
    flow = asked(DialogFlow("s"))
    flow.hear("a", now=2.0)
    assert flow.is_foreign(status(1, TaskState.DONE, session="another"))
    assert flow.is_foreign(status(2, TaskState.DONE))
    assert not flow.is_foreign(status(1, TaskState.PLANNING))
    assert not flow.is_foreign(status(0, TaskState.IDLE))
    assert not flow.is_foreign(status(0, TaskState.IDLE, session=""))


def test_a_report_that_comes_twice_counts_once():
    flow = asked(DialogFlow("s"))
    flow.hear("a", now=2.0)
    assert flow.report(status(1, TaskState.NO_ACTION))
    assert not flow.report(status(1, TaskState.FAILED))
    assert flow.transcript.turns[0].outcome is TurnOutcome.NO_ACTION


def test_done_ends_the_session():
    flow = asked(DialogFlow("s"))
    flow.hear("a", now=2.0)
    flow.report(status(1, TaskState.DONE))
    assert flow.phase is Phase.ENDED
    assert flow.transcript.ended
    assert flow.transcript.end_reason == "the task is completed"


def test_the_turn_limit_ends_the_session():
    flow = DialogFlow("s", max_turns=2)
    for turn in (1, 2):
        asked(flow)
        flow.hear(f"utterance {turn}", now=2.0)
        flow.report(status(turn, TaskState.NO_ACTION))
    assert flow.transcript.end_reason == "the limit of 2 turns is reached"


def test_no_more_words_are_held_than_there_are_turns_left():
    flow = DialogFlow("s", 2)
    flow.hear("first", now=1.0)
    flow.hear("second", now=2.0)
    with pytest.raises(InputError, match="no turn left"):
        flow.hear("third", now=3.0, utterance_id="u3")
    assert (flow.take_held(), flow.take_held(), flow.take_held()) == (
        Held("first"),
        Held("second"),
        None,
    )


def test_words_before_a_question_are_held_each_for_a_turn_of_its_own():
    flow = DialogFlow("s")
    assert flow.hear("first", now=1.0) is None
    assert flow.hear("second", now=1.0, speaker_id="ann") is None
    assert flow.hear("third", now=1.0) is None
    assert flow.drop_held()
    assert flow.take_held() == Held("first")
    assert flow.take_held() == Held("second", "ann")
    assert flow.take_held() is None
    assert not flow.drop_held()


def test_an_answer_to_the_question_before_leaves_the_one_that_stands():
    flow = asked(DialogFlow("s"), "What shall I move?")
    flow.hear("the bread", now=2.0)
    flow.report(status(1, TaskState.NO_ACTION))
    flow.ask("Where does the milk go?", now=5.0)
    turn = flow.hear("and the cup", now=6.0, spoken=4.0)
    assert (turn.turn, turn.question) == (2, "What shall I move?")
    assert flow.take_unanswered() == "Where does the milk go?"
    assert flow.take_unanswered() == ""


@pytest.mark.parametrize(
    ("words", "spoken"), [("the fridge", 7.0), ("the fridge", 0.0), ("the fridge", 6.0)]
)
def test_an_answer_to_the_question_that_stands_is_its_answer(words, spoken):
    flow = asked(DialogFlow("s"), "What shall I move?")
    flow.hear("the bread", now=2.0)
    flow.report(status(1, TaskState.NO_ACTION))
    flow.ask("Where does the milk go?", now=6.0)
    assert flow.hear(words, now=8.0, spoken=spoken).question == "Where does the milk go?"
    assert flow.take_unanswered() == ""


def test_a_person_may_say_which_question_is_answered():
    flow = asked(DialogFlow("s"), "What shall I move?")
    flow.hear("the bread", now=2.0)
    flow.report(status(1, TaskState.NO_ACTION))
    asked(flow, "Where does the milk go?")
    turn = flow.hear("To your earlier question: the cup too", now=2.0)
    assert turn.question == "What shall I move?"


def test_a_turn_that_is_taken_back_is_without_action_and_waits_for_the_report():
    flow = asked(DialogFlow("s"))
    assert not flow.withdraw_turn("never mind")
    flow.hear("Put the bread away.", now=2.0)
    assert flow.withdraw_turn("never mind")
    assert not flow.withdraw_turn("never mind")
    turn = flow.transcript.turns[-1]
    assert (turn.utterance, turn.outcome) == (
        "Put the bread away. never mind",
        TurnOutcome.NO_ACTION,
    )
    assert flow.phase is Phase.STATUS
    assert flow.report(status(1, TaskState.NO_ACTION))
    assert not flow.is_withdrawn


def test_a_question_that_nobody_cares_for_is_withdrawn():
    flow = asked(DialogFlow("s"), "Tea or coffee?")
    assert flow.withdraw_question()
    assert flow.phase is Phase.QUESTION
    assert flow.all_asked == ["Tea or coffee?"]
    assert not flow.withdraw_question()


def test_an_id_is_heard_once():
    flow = asked(DialogFlow("s"))
    flow.check_new("yes", "u1")
    flow.hear("yes", now=2.0, utterance_id="u1")
    flow.report(status(1, TaskState.NO_ACTION))
    asked(flow)
    with pytest.raises(InputError, match="u1"):
        flow.check_new("something else", "u1")


def test_the_same_words_are_a_repeat_only_while_no_question_stands():
    flow = asked(DialogFlow("s"))
    flow.hear("yes", now=2.0)
    with pytest.raises(InputError, match="repeats"):
        flow.check_new("yes", "")
    flow.check_new("no", "")
    flow.report(status(1, TaskState.NO_ACTION))
    asked(flow)
    flow.check_new("yes", "")


def test_nothing_is_heard_after_the_end():
    flow = DialogFlow("s")
    flow.end("stop")
    with pytest.raises(InputError, match="ended"):
        flow.check_new("hello", "")

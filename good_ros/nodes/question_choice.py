"""How dialog finds its questions: the parameters, and the chooser made from them."""

from __future__ import annotations

from types import SimpleNamespace

from good_ros.inference.backends import make_scorer
from good_ros.inference.question_choice import (
    CHOSEN,
    PLAIN,
    QUESTION_CHOICES,
    ChoiceRules,
    QuestionChooser,
)
from good_ros.inference.tracker import BeliefTracker
from good_ros.language.generator import Generator
from good_ros.nodes.base import GoodNode
from good_ros.nodes.parameters import Parameter

CACHE_MIB = 256.0
"""Keys and values that the scorer of questions holds at most."""
PARAMETERS = (
    Parameter(
        "question_choice",
        PLAIN,
        "How the next question is found: one open question of the model (the paper's), or of "
        "several the one whose answer is expected to tell the most about the goal.",
        choices=QUESTION_CHOICES,
    ),
    Parameter(
        "scoring_model",
        "",
        "The model that weighs questions where they are chosen, as `model` of goal_belief; "
        "empty takes `model`.",
    ),
    Parameter(
        "temper",
        1.0,
        "As of goal_belief, where questions are chosen.",
        0.0,
        10.0,
    ),
    Parameter("question_candidates", 4, "Questions that are weighed at most.", 1, 20),
    Parameter("question_goals", 4, "Likeliest goals under which answers are drawn.", 2, 20),
    Parameter("question_answers", 1, "Answers drawn for each of these goals.", 1, 10),
    Parameter(
        "question_cost",
        0.1,
        "Nats that a question must be expected to gain; below, the robot says what it goes by "
        "and asks nothing.",
        0.0,
        10.0,
    ),
    Parameter(
        "question_budget_s",
        30.0,
        "Seconds after which the best question so far is asked.",
        0.1,
        3600.0,
    ),
)


def make_chooser(
    node: GoodNode, generator: Generator, values: SimpleNamespace
) -> QuestionChooser | None:
    """What weighs questions for ``node``, which keeps it; None where one is asked plainly.

    It has a scorer of its own: composed with goal_belief they share the weights, and neither
    disturbs what the other keeps of the dialog. Raises ModelError.
    """
    if values.question_choice != CHOSEN:
        return None
    scorer = node.keep(
        make_scorer(
            values.scoring_model or values.model,
            cache_mib=CACHE_MIB,
            deadline_s=values.deadline_s,
        )
    )
    scorer.self_test()
    return QuestionChooser(
        generator,
        node.keep(BeliefTracker(scorer, temper=values.temper)),
        ChoiceRules(
            values.question_candidates,
            values.question_goals,
            values.question_answers,
            values.question_cost,
            values.question_budget_s,
        ),
    )

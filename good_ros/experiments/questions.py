"""How many turns until the robot knows what a person wants: ``good eval dialog``.

Each session has one goal set and one simulated human, and is run twice: with questions that are
chosen for what they are expected to tell, and with the paper's plain ones. Nothing is acted on, so
that questions alone make the difference. A session is over once the true goal's probability is
over ``SURE``; one that does not get there counts with its cap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.goals import GoalSet, unspecified_goal
from good_ros.experiments import progress as progress_lines
from good_ros.experiments.human import SimulatedHuman
from good_ros.experiments.person import TruthfulPerson
from good_ros.experiments.profiles import Profile
from good_ros.experiments.temperament import DEFAULT_TEMPERAMENT, load_temperament
from good_ros.experiments.wishes import candidate_goals, wish_of
from good_ros.inference.posterior import make_belief
from good_ros.inference.question_choice import (
    CHOSEN,
    PLAIN,
    ChoiceRules,
    ChosenQuestion,
    QuestionChooser,
    Situation,
)
from good_ros.inference.scorer import Scorer
from good_ros.inference.tracker import BeliefTracker
from good_ros.language import conversation
from good_ros.language.generator import Generator
from good_ros.worlds.base import World
from good_ros.worlds.registry import make_world

SURE = 0.8
MAX_TURNS = 8
ARMS = (PLAIN, CHOSEN)


@dataclass(frozen=True)
class DialogResult:
    """One session with one way of asking; ``turns`` is the cap where ``reached`` is false.

    ``tokens_scored`` and ``tokens_written`` are what choosing the questions took.
    """

    profile: str
    seed: int
    arm: str
    turns: int
    reached: bool
    tokens_scored: int = 0
    tokens_written: int = 0
    dialog: tuple[tuple[str, str, float, float], ...] = ()
    """(question, answer, expected gain in nats, probability of the true goal after it)."""


@dataclass
class DialogModels:
    """What asks, what answers and what scores; without ``human`` the person is the rule-based
    one, who answers truthfully."""

    dialog: Generator
    human: Generator | None
    scorer: Scorer


@dataclass(frozen=True)
class DialogRules:
    """How a session is run; the same for both ways of asking."""

    goals: int = 6
    max_turns: int = MAX_TURNS
    temper: float = 1.0
    temperament: str = DEFAULT_TEMPERAMENT
    choice: ChoiceRules = field(default_factory=lambda: ChoiceRules(budget_s=600.0))
    """The time for a question is no part of the comparison, so it is not made short here."""


def run_dialog(
    profile: Profile, seed: int, arm: str, models: DialogModels, rules: DialogRules
) -> DialogResult:
    """One session. Raises ModelError where the belief, a question or an answer fails."""
    room = make_world("household")
    room.reset(profile.scene)
    goals, true_id = candidate_goals(profile, room.observe(), seed, rules.goals)
    say = _person(profile, seed, models, rules, room)
    asker = _Asker(profile, arm, models, rules, seed)
    tracker = BeliefTracker(models.scorer, temper=rules.temper)
    goal_set = GoalSet("eval", 0, 1, (unspecified_goal(), *goals))
    transcript = Transcript("eval")
    belief = first_belief(goal_set)
    said: list[tuple[str, str, float, float]] = []
    try:
        while transcript.turn < rules.max_turns:
            question = asker.ask(belief, transcript)
            turn = transcript.turn + 1
            answer = say(question.text, turn)
            transcript = Transcript(
                "eval", (*transcript.turns, Turn(turn, question.text, answer, profile.name))
            )
            belief = tracker.update(transcript, goal_set)
            sure = _probability(belief, true_id)
            said.append((question.text, answer, round(question.gain, 3), round(sure, 3)))
            if sure > SURE:
                break
    finally:
        tracker.close()
        asker.close()
    return DialogResult(
        profile.name,
        seed,
        arm,
        len(said),
        bool(said) and said[-1][3] > SURE,
        asker.tokens_scored,
        asker.tokens_written,
        tuple(said),
    )


def _person(
    profile: Profile, seed: int, models: DialogModels, rules: DialogRules, room: World
) -> Callable[[str, int], str]:
    """What the person says to a question in a turn."""
    temperament = load_temperament(rules.temperament)
    if models.human is None:
        return TruthfulPerson(wish_of(profile), room.observe(), temperament, seed).answer
    human = SimulatedHuman(profile, models.human, room, seed=1000 * seed, temperament=temperament)
    return lambda question, turn: human.answer(question, turn, ())


def first_belief(goals: GoalSet) -> Belief:
    """The belief before anything was said: the priors. With goals in words there, 'Unspecified'
    comes last among equals, since a question about them can be chosen."""
    belief = make_belief(goals, 0, {goal.id: () for goal in goals.goals})
    ordered = sorted(belief.hypotheses, key=lambda h: (-h.probability, h.goal.is_unspecified))
    return Belief(**{**vars(belief), "hypotheses": tuple(ordered)})


class _Asker:
    """The robot's side of the conversation, with one way of asking."""

    def __init__(
        self, profile: Profile, arm: str, models: DialogModels, rules: DialogRules, seed: int
    ) -> None:
        self.task = profile.task
        self.seed = seed
        self.generator = models.dialog
        self.tracker = BeliefTracker(models.scorer, temper=rules.temper)
        self.chooser = (
            QuestionChooser(models.dialog, self.tracker, rules.choice) if arm == CHOSEN else None
        )
        self.status = conversation.status_text(())
        self.tokens_scored = 0
        self.tokens_written = 0

    def close(self) -> None:
        self.tracker.close()

    def ask(self, belief: Belief, transcript: Transcript) -> ChosenQuestion:
        def plain() -> str:
            return conversation.ask(
                self.generator,
                self.task,
                transcript,
                self.status,
                seed=self.seed + transcript.turn,
            )

        if self.chooser is None:
            return ChosenQuestion(plain())
        situation = Situation(
            belief, transcript, self.task, self.status, seed=self.seed + transcript.turn
        )
        chosen = self.chooser.choose(situation, plain)
        self.tokens_scored += chosen.tokens_scored
        self.tokens_written += chosen.tokens_written
        return chosen


def run_dialogs(
    profiles: Sequence[Profile],
    seeds: Sequence[int],
    models: Callable[[], DialogModels],
    rules: DialogRules,
    *,
    limit: int = 0,
    progress: Path | None = None,
    on_result: Callable[[DialogResult, int, int], None] = lambda result, done, total: None,
) -> list[DialogResult]:
    """Every profile with every seed in both ways, at most ``limit`` sessions where it is not 0.

    Results are appended to ``progress`` as they come, and those that stand there already are not
    computed again; ``models`` is called only where a session has to be run.
    """
    pairs = [(profile, seed) for seed in seeds for profile in profiles]
    todo = [(*pair, arm) for pair in (pairs[:limit] if limit else pairs) for arm in ARMS]
    known = {(r.profile, r.seed, r.arm): r for r in read_results(progress)} if progress else {}
    results: list[DialogResult] = []
    loaded: DialogModels | None = None
    for profile, seed, arm in todo:
        result = known.get((profile.name, seed, arm))
        if result is None:
            loaded = loaded or models()
            result = run_dialog(profile, seed, arm, loaded, rules)
            if progress:
                progress_lines.append(progress, result)
        results.append(result)
        on_result(result, len(results), len(todo))
    return results


def read_results(path: Path) -> list[DialogResult]:
    """The results in a progress file. Raises InputError as ``progress.read``."""

    def make(fields: Mapping[str, Any]) -> DialogResult:
        dialog = tuple(tuple(said) for said in fields["dialog"])
        return DialogResult(**{**fields, "dialog": dialog})

    return progress_lines.read(path, make)


def summary(results: Iterable[DialogResult]) -> Mapping[str, Any]:
    """``n`` sessions; mean turns with chosen and with plain questions, and by what share the
    chosen ones need fewer (``reduction``); how many sessions got there at all, and what choosing
    a question took, in tokens that were read and written."""
    results = list(results)
    arms = {arm: [r for r in results if r.arm == arm] for arm in ARMS}
    mean = {arm: _mean([r.turns for r in rows]) for arm, rows in arms.items()}
    asked = sum(len(r.dialog) for r in arms[CHOSEN])
    return {
        "n": min(len(rows) for rows in arms.values()),
        "turns_chosen": mean[CHOSEN],
        "turns_plain": mean[PLAIN],
        "reduction": 1 - mean[CHOSEN] / mean[PLAIN] if mean[PLAIN] else 0.0,
        "reached_chosen": sum(r.reached for r in arms[CHOSEN]),
        "reached_plain": sum(r.reached for r in arms[PLAIN]),
        "tokens_scored_a_question": _share(sum(r.tokens_scored for r in arms[CHOSEN]), asked),
        "tokens_written_a_question": _share(sum(r.tokens_written for r in arms[CHOSEN]), asked),
    }


def _probability(belief: Belief, goal_id: str) -> float:
    return next(h.probability for h in belief.hypotheses if h.goal.id == goal_id)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _share(total: int, count: int) -> float:
    return total / count if count else 0.0

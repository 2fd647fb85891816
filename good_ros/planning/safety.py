"""Which plans are done without asking, which wait for a person's yes, and which are refused.

Only the world's own action names and object types are looked at, never what a person said or
what a thing is called: text is data and cannot widen what is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from good_ros.core.belief import Belief
from good_ros.core.errors import InputError
from good_ros.core.plan import Step
from good_ros.core.resources import config_folder
from good_ros.planning.conditions import Conditions
from good_ros.planning.needs import Needs
from good_ros.planning.shopping import refusals
from good_ros.planning.trial import Trial, Trials
from good_ros.planning.usefulness import is_true
from good_ros.worlds.base import ObjectView
from good_ros.worlds.predicates import Predicate, explain

LISTS = ("allowed", "needs_approval", "refused")
SHARES = ("approval_below", "runner_up_from")


@dataclass(frozen=True)
class SafetyRule:
    """One entry of a list: an action, on things of certain types (empty: any), and whether it
    applies only where people may be near."""

    action: str
    types: frozenset[str] = frozenset()
    people_near: bool = False

    def applies(self, step: Step, kind: str | None, people_near: bool) -> bool:
        """``kind`` is the type of what is acted on; None where it is not known, for which a rule
        about certain types applies as well."""
        return (
            step.action == self.action
            and (not self.types or kind is None or kind in self.types)
            and (people_near or not self.people_near)
        )


@dataclass(frozen=True)
class SafetyRules:
    """The rules as of ``config/safety.yaml``; probabilities from 0 to 1."""

    allowed: tuple[SafetyRule, ...] = ()
    needs_approval: tuple[SafetyRule, ...] = ()
    refused: tuple[SafetyRule, ...] = ()
    approval_below: float = 0.5
    runner_up_from: float = 0.1


@dataclass(frozen=True)
class Judgement:
    """``refused``: why the plan may not be done at all; ``approval``: why it waits for a yes.
    It is allowed where both are empty."""

    refused: tuple[str, ...] = ()
    approval: tuple[str, ...] = ()


class Safety:
    """Judges plans by rules; ``people_near`` is False only where nobody can be near."""

    def __init__(self, rules: SafetyRules, people_near: bool = True) -> None:
        self.rules = rules
        self.people_near = people_near

    def judge_steps(self, steps: Iterable[Step], objects: Sequence[ObjectView]) -> Judgement:
        """By the lists alone; ``objects`` give the types of what is acted on."""
        types = {item.id: item.type for item in objects}
        refused: dict[str, None] = {}
        approval: dict[str, None] = {}
        for step in steps:
            words = f"'{step.label or step.action}'"
            kind = types.get(step.object_id)
            if self._in(self.rules.refused, step, kind):
                refused[f"{words} is refused by the safety rules"] = None
            elif self._in(self.rules.needs_approval, step, kind):
                approval[f"{words} needs approval"] = None
            elif not self._in(self.rules.allowed, step, kind):
                approval[f"{words} is in no list of the safety rules"] = None
        return Judgement(tuple(refused), tuple(approval))

    def judge(
        self,
        trials: Trials,
        steps: Sequence[Step],
        belief: Belief,
        conditions: Conditions,
        needs: Needs | None = None,
    ) -> Judgement:
        """By the lists, by what the person must not get, and by how sure the belief is that the
        plan is wanted."""
        by_lists = self.judge_steps(steps, trials.of(()).before)
        unfit = refusals(trials.of(steps), needs) if needs else ()
        doubts = self._doubts(trials, steps, belief, conditions)
        return Judgement(by_lists.refused + unfit, by_lists.approval + doubts)

    def _doubts(
        self, trials: Trials, steps: Sequence[Step], belief: Belief, conditions: Conditions
    ) -> tuple[str, ...]:
        goals = [h for h in belief.hypotheses if not h.goal.is_unspecified]
        doubts = []
        if not goals or goals[0].probability < self.rules.approval_below:
            likely = f"'{goals[0].goal.text}' is {goals[0].probability:.0%}" if goals else "none is"
            doubts.append(
                f"no goal is likely enough: {likely} likely, under {self.rules.approval_below:.0%}"
            )
        trial = trials.of(steps)
        if goals and (lost := _lost(conditions.of(goals[0].goal), trial)):
            doubts.append(f"it undoes what the likeliest goal wants: {', '.join(lost)}")
        if len(goals) > 1 and goals[1].probability >= self.rules.runner_up_from:
            undone = _would_undo(conditions.of(goals[1].goal), trial)
            if undone:
                doubts.append(
                    f"'{goals[1].goal.text}' ({goals[1].probability:.0%}) would undo it: "
                    f"{', '.join(undone)}"
                )
        return tuple(doubts)

    def _in(self, rules: Iterable[SafetyRule], step: Step, kind: str | None) -> bool:
        if rules is self.rules.allowed and kind is None and step.object_id:
            # What is not known is not allowed by a rule about certain types.
            rules = [rule for rule in rules if not rule.types]
        return any(rule.applies(step, kind, self.people_near) for rule in rules)


def _lost(wanted: Sequence[Predicate], trial: Trial) -> list[str]:
    """What of it is true before the plan and not after."""
    return [explain(p) for p in wanted if is_true(p, trial.before) and not is_true(p, trial.after)]


def _would_undo(wanted: Sequence[Predicate], trial: Trial) -> list[str]:
    """What of it is not true after the plan, and is about something that the plan changed."""
    changed = trial.changed()
    return [
        explain(p)
        for p in wanted
        if not is_true(p, trial.after)
        and any(
            name.removeprefix("each ") in (item.name, item.type) and aspect == what
            for what, name in _subjects(p)
            for item, aspect in changed
        )
    ]


def _subjects(predicate: Predicate) -> list[tuple[str, str]]:
    """(aspect, thing) that a predicate is about; aspects as of ``Trial.changed``."""
    kind, value = next(iter(predicate.items()))
    if kind in ("in", "on", True):
        return [("place", value[0])]
    if kind == "toggled":
        return [("toggled", value[0])]
    if kind in ("open", "closed"):
        return [("open", value)]
    if kind == "held":
        return [("place", value)]
    if kind == "not":
        return _subjects(value)
    if kind == "basket":
        return []
    return [subject for part in value for subject in _subjects(part)]


def approve_all(rules: SafetyRules, actions: Iterable[str]) -> SafetyRules:
    """The rules with approval needed for every one of these actions; what is refused stays so."""
    more = tuple(SafetyRule(action) for action in actions)
    return replace(rules, needs_approval=(*rules.needs_approval, *more))


def load_rules(path: str = "") -> SafetyRules:
    """The rules of a YAML file; of ``config/safety.yaml`` where ``path`` is empty.

    Raises InputError where it cannot be read, or has a list, an entry or a number that is not of
    its form: rules that are not understood must not pass for none.
    """
    file = Path(path).expanduser() if path else config_folder() / "safety.yaml"
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the safety rules {file} cannot be read: {error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, Mapping) or set(data) != {*LISTS, *SHARES}:
        raise InputError(f"{file} must have {', '.join((*LISTS, *SHARES))} and nothing else")
    for name in SHARES:
        value = data[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise InputError(f"{file}: {name} must be a number from 0 to 1, not {value!r}")
    lists: Any = [tuple(_rule(entry, file) for entry in data[name] or ()) for name in LISTS]
    return SafetyRules(*lists, *(float(data[name]) for name in SHARES))


def _rule(entry: Any, file: Path) -> SafetyRule:
    if isinstance(entry, str) and entry:
        return SafetyRule(entry)
    if not isinstance(entry, Mapping) or not set(entry) <= {"action", "types", "people_near"}:
        raise InputError(f"{file}: an entry has action, types and people_near; this: {entry!r}")
    action, types = entry.get("action"), entry.get("types", [])
    near = entry.get("people_near", False)
    if (
        not (isinstance(action, str) and action)
        or not (isinstance(types, list) and all(isinstance(t, str) and t for t in types))
        or not isinstance(near, bool)
    ):
        raise InputError(f"{file}: an entry is not of its form: {entry!r}")
    return SafetyRule(action, frozenset(types), near)

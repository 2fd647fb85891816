"""GEPA (Genetic-Pareto, the ``gepa`` package) in this harness: the same trials, the same model
that writes prompts, the same budget of prompts in trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from good_ros.core.errors import InputError
from good_ros.optimize.environments.registry import Instance
from good_ros.optimize.methods.base import plain_errors
from good_ros.optimize.search import Search, SearchOver
from good_ros.optimize.trial import Trial

COMPONENT = "prompt"


class Gepa:
    """``rules`` true tells GEPA what the rules of people say, as its own examples do; false the
    environment's words alone, as for the other baselines. ``trials`` bounds its trials, by
    default those of the paper's numbers of prompts."""

    def __init__(self, rules: bool = True, trials: int = 0, minibatch: int = 3) -> None:
        self.rules = rules
        self.trials = trials
        self.minibatch = minibatch

    def run(self, search: Search) -> str:
        try:
            import gepa
            from gepa import EvaluationBatch
        except ImportError as error:
            raise InputError(
                f"GEPA is not installed ({error}): pip install 'good_ros[optimize]'"
            ) from error
        config = search.config
        count = len(search.task.instances)
        prompts = config.kids[0] + config.kids[1] * config.beam * (config.patience + 1)
        over: list[SearchOver] = []

        class Adapter:
            """What GEPA asks of a system: scores and traces of a batch, and examples to reflect
            on."""

            propose_new_texts = None

            def __init__(self, rules: bool) -> None:
                self.rules = rules

            def evaluate(
                self,
                batch: list[Instance],
                candidate: dict[str, str],
                capture_traces: bool = False,
            ) -> Any:
                try:
                    text = search.task.usable(candidate[COMPONENT])
                    scored = None
                    if len(batch) == count and text:
                        parents = [search.archive.best]
                        scored = search.evaluate(text, parents, parents[0].level + 1, "gepa")
                    if scored is not None:
                        trials = list(scored.trials)
                    else:
                        trials = search.trials(text, batch) if text else []
                except SearchOver as error:
                    over.append(error)
                    raise
                scores = [search.score(trial) for trial in trials] or [0.0] * len(batch)
                return EvaluationBatch(
                    outputs=[trial.progress for trial in trials] or [0.0] * len(batch),
                    scores=scores,
                    trajectories=list(trials) if capture_traces else None,
                )

            def make_reflective_dataset(
                self, candidate: dict[str, str], eval_batch: Any, components_to_update: list[str]
            ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
                trials: list[Trial] = eval_batch.trajectories or []
                records = [self._record(trial) for trial in trials]
                return dict.fromkeys(components_to_update, records)

            def _record(self, trial: Trial) -> dict[str, Any]:
                said = " ".join(f.text for f in trial.feedback) if self.rules else ""
                return {
                    "Inputs": trial.rounds[-1].state if trial.rounds else "",
                    "Generated Outputs": plain_errors([trial]),
                    "Feedback": said or f"The share of sub-goals reached is {trial.progress:.2f}.",
                }

        def write(text: str) -> str:
            try:
                return search.ask_plain(text)
            except SearchOver as error:
                over.append(error)
                raise

        instances = list(search.task.instances)
        try:
            gepa.optimize(
                seed_candidate={COMPONENT: search.archive.of("0000").text},
                trainset=instances,
                valset=instances,
                adapter=Adapter(self.rules),
                reflection_lm=write,
                reflection_minibatch_size=min(self.minibatch, count),
                max_metric_calls=self.trials or prompts * count,
                skip_perfect_score=True,
                perfect_score=1.0,
                raise_on_exception=True,
                seed=config.seed,
                logger=_Silent(),
                display_progress_bar=False,
            )
        except Exception:
            if over:
                raise over[0] from None
            raise
        if over:
            raise over[0]
        return "GEPA's own end"


class _Silent:
    def log(self, message: str) -> None:
        """GEPA tells much; what matters is in the run's folder."""

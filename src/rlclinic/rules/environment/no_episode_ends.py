"""Training goes on but no episode return is seen.

What it sees: Losses and other training metrics are there, yet no return: none was logged, or its values are all
undefined because no episode ended, or the last ended long ago.
Why it hurts: Whether the agent gets better cannot be known, and an environment that never ends an episode never
resets.
Evidence needed: at least 8 points of any training metric, over at least ten time limits where the limit is known.
Looks alike: A missing Monitor wrapper (episodes end, nobody counts them); offline training, which has no episodes but
may have evaluations; the first steps of tasks with long episodes; supervised fine-tuning.
What to change: Wrap the environment in a monitor (Stable-Baselines3: Monitor or VecMonitor; Gymnasium:
RecordEpisodeStatistics). If it is wrapped, give the environment a time limit and check that it returns terminated.
References: ray-project/ray#10416; LucasAlegre/sumo-rl#190; Stable-Baselines3 documentation, Monitor.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.episodes import task_by_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.run import PERFORMANCE_METRICS
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.rules.words import steps_text

RULE = Rule(
    "ENV03",
    needs=("policy_loss|value_loss|loss|entropy|q/mean|explained_variance",),
    covered_by=("EVA03",),
    step=DecisionStep.ENVIRONMENT,
    means=(Sign.RETURN_STOPPED,),
)


class Limits(RuleLimits):
    min_points: int = 8
    many_steps: float = 2000.0
    """Env steps that pass before a silent return is odd where no time limit is known: ten episodes of 200 steps."""
    limits: float = 10.0
    silent_share: float = 0.3
    """Share of the run without a finished episode, and times the longest earlier gap, that make the silence odd."""
    silent_gaps: float = 4.0


LIMITS = Limits()
TRAINING_METRICS = ("policy_loss", "value_loss", "loss", "entropy", "q/mean", "explained_variance")


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Find out whether a return is missing, undefined, or silent."""
    training = _training(facts, limits)
    if training is None or facts.is_language_model or facts.series("loss/supervised") is not None:
        return None
    if facts.curve is not None:
        return _silent(facts, training, limits)
    steps = facts.run.steps
    if facts.run.step_axis == "env_steps" and steps < _patience(facts, limits):
        return None
    undefined = next((s for n, s in facts.run.series.items() if n in ("return/train", "return/eval")), None)
    evidence: list[Evidence] = [facts.evidence(training.name, float(len(training)), note="points of training metrics")]
    if undefined is None:
        summary = (
            f"{len(training)} points of {training.logged_as} over {steps_text(facts, steps)}, but no return was "
            "logged: a monitor is missing, or no episode has ended"
        )
        return RuleResult(Severity.WARNING, 0.9, summary, tuple(evidence))
    evidence.append(facts.evidence(undefined.name, 0.0, 1.0, note="finite points of the return"))
    summary = (
        f"all {len(undefined)} values of {undefined.logged_as} over {steps_text(facts, steps)} are undefined: "
        "no episode has ended"
    )
    return RuleResult(Severity.WARNING, 0.85, summary, tuple(evidence))


def _silent(facts: RunFacts, training: Series, limits: Limits) -> RuleResult | None:
    """No episode for a long time at the end, where each is logged when it ends."""
    returns = facts.series("return/train")
    if returns is None or returns.axis != training.axis:
        return None
    ends = returns.steps[np.isfinite(returns.values)]
    last, gaps = float(training.steps[-1]), np.diff(ends)
    quiet = last - float(ends[-1])
    bar = max(limits.silent_share * last, limits.silent_gaps * float(gaps.max(initial=0.0)))
    if quiet <= bar or _episodes_go_on(facts, float(ends[-1]) + bar):
        return None
    summary = (
        f"the last return was logged at step {ends[-1]:.4g}, training went on to {last:.4g}: no episode ended in "
        f"{quiet:,.0f} steps, the longest gap before was {gaps.max(initial=0.0):,.0f}"
    )
    evidence = (facts.evidence("return/train", quiet, bar, note="steps since the last finished episode"),)
    return RuleResult(Severity.WARNING, 0.7, summary, evidence, float(ends[-1]))


def _episodes_go_on(facts: RunFacts, step: float) -> bool:
    """Whether evaluations or successes are logged after a step: then it is only the training return that is not."""
    others = (facts.series(name) for name in PERFORMANCE_METRICS if name != "return/train")
    return any(series is not None and float(series.steps[-1]) > step for series in others)


def _training(facts: RunFacts, limits: Limits) -> Series | None:
    found = [series for name in TRAINING_METRICS if (series := facts.series(name)) is not None]
    longest = max(found, key=len, default=None)
    return longest if longest is not None and len(longest) >= limits.min_points else None


def _patience(facts: RunFacts, limits: Limits) -> float:
    task = task_by_name(facts)
    limit = positive(facts, "max_episode_steps") or (task.max_episode_steps if task is not None else None)
    if not limit:
        return limits.many_steps
    return limits.limits * limit * (positive(facts, "n_envs") or 1.0)

"""The discount makes the agent look only a few steps ahead.

What it sees: A horizon 1 / (1 - gamma) of at most 25 steps that is less than a tenth of the episode length that the
task allows or that was seen.
Why it hurts: Rewards beyond the horizon do not count, so the agent prefers what pays at once. All metrics of the
trainer look healthy: the critic predicts a short future very well.
Evidence needed: gamma in the config, and episode lengths or a known task.
Looks alike: Tasks whose reward at each step already says what is right: Pendulum is trained at 0.9, and nothing is
said there. When the return rises it is a note.
What to change: Raise gamma so that 1 / (1 - gamma) covers the steps from an action to its reward: 0.98 to 0.995 is
usual.
References: muPRL operator SDF (arXiv 2408.15150).
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.facts.unusual_settings import unusual
from rlclinic.model.finding import Severity
from rlclinic.reference.tasks import has_reference_config, reference_config, task_of
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("DAT07", needs=("config:gamma",))


class Limits(RuleLimits):
    near: float = 25.0
    """Steps; working configs go down to gamma 0.9 (10 steps) on tasks with a dense reward."""
    short: float = 0.1
    """Horizon over episode length."""
    unheard_of: float = 0.3
    """Decades by which it is shorter than any horizon that people train with."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the horizon against the length of an episode."""
    gamma, length = facts.setting("gamma"), _length(facts)
    if gamma is None or length is None or not 0.0 <= gamma < 1.0 or facts.is_language_model:
        return None
    horizon = 1.0 / (1.0 - gamma)
    share = horizon / length
    if horizon > limits.near or share >= limits.short or gamma >= _known_to_work(facts):
        return None
    bad = failed(facts)
    curve = facts.curve
    beside = f"; the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
    summary = (
        f"gamma {gamma:g} looks {horizon:.3g} steps ahead, {100 * share:.2g}% of an episode of {length:.0f} steps"
        f"{beside}"
    )
    evidence = (setting_evidence(facts, "gamma", share, limits.short, note="1 / (1 - gamma) over the episode length"),)
    away = unusual(facts, "gamma", gamma)
    unheard_of = away is not None and away.beyond("low") > limits.unheard_of
    sure = (0.8 if unheard_of else 0.65) if bad else (0.5 if unheard_of else 0.35)
    return RuleResult(Severity.WARNING if bad else Severity.INFO, sure, summary, evidence)


def _length(facts: RunFacts) -> float | None:
    """The longest typical episode seen, or what the task allows: failing agents end early."""
    seen = [level.value for level in (facts.early("episode_length"), facts.late("episode_length")) if level is not None]
    if facts.environment is not None and facts.environment.episodes is not None:
        seen.append(facts.environment.episodes.mean_length)
    task = task_of(facts.run.environment) if facts.run.environment else None
    if task is not None and task.max_episode_steps is not None:
        seen.append(float(task.max_episode_steps))
    return max((length for length in seen if length > 0), default=None)


def _known_to_work(facts: RunFacts) -> float:
    """Discount of a working config for this task and algorithm; 1 where none is known."""
    run = facts.run
    if not has_reference_config(run.environment, run.algorithm):
        return 1.0
    known = reference_config(run.environment, run.algorithm).get("gamma")
    return float(known) if isinstance(known, int | float) else 1.0

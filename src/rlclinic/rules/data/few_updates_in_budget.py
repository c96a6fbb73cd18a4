"""The budget holds only a handful of gradient updates.

What it sees: Fewer than 200 gradient steps in the whole run, as the config implies or the log counts, or fewer than 10
rollouts.
Why it hurts: A network needs thousands of small steps. With a few hundred the policy at the end is close to the one
at the start, whatever the data.
Evidence needed: rollout size and batch size (or updates per step) in the config, or a count of updates in the log; the
budget or the steps taken.
Looks alike: Runs that were stopped, and runs that learned all the same: a note there, also where a return climbed and
stands still below its goal while updates go on, which more of them would not move. Updates counted in rollouts. A
budget that is too short for any config: then the updates per env step are those of working configs.
What to change: Shorter rollouts, smaller batches, more epochs, more updates per step, or a larger budget.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.5.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import barely_moved, failed
from rlclinic.facts.offline import is_offline
from rlclinic.facts.return_state import reached_goal
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.facts.unusual_settings import unusual
from rlclinic.facts.update_count import expected_updates, logged_updates, rollout
from rlclinic.model.finding import Severity
from rlclinic.model.run import Status
from rlclinic.reference.reference_configs import UPDATES
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("DAT03", needs=("config:n_steps|config:rollout_size|config:train_freq|config:update_to_data|updates",))


class Limits(RuleLimits):
    few: float = 200.0
    """Gradient steps in the run."""
    few_rollouts: float = 10.0
    late: float = 0.5
    """Share of the steps before learning starts."""
    rare: float = 2.0
    """Spreads by which working configs make more updates per env step: the config takes them, not the budget."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count the updates that the config allows within the budget, or within the steps of a finished run."""
    run = facts.run
    planned = run.budget if run.step_axis == "env_steps" else None
    steps = max(planned or 0.0, run.env_steps or 0.0)
    if steps <= 0 or facts.is_language_model or is_offline(facts) or reached_goal(facts):
        return None
    if planned is None and run.status.state is not Status.FINISHED and run.status.state is not Status.UNKNOWN:
        return None
    starts = (positive(facts, "learning_starts") or 0.0) if facts.is_off_policy else 0.0
    if starts >= steps:
        return None
    planned_updates, size = expected_updates(facts, steps), rollout(facts)
    updates = planned_updates if planned_updates is not None else logged_updates(facts)
    rounds = steps / size if size is not None and facts.is_on_policy else None
    few_rounds = rounds is not None and rounds < limits.few_rollouts
    if updates is None or (updates >= limits.few and not few_rounds):
        return None
    away = unusual(facts, UPDATES, updates / (steps - starts))
    rare = away is not None and away.off("low") > limits.rare
    if starts > limits.late * steps and not rare:
        # Few updates because learning began late are another finding.
        return None
    levelled = facts.curve is not None and facts.curve.climbed and not facts.curve.still_rising
    bad = (failed(facts) and not levelled) or (rare and barely_moved(facts))
    in_rounds = f" in {rounds:.0f} rollouts of {size:,.0f} samples" if rounds is not None else ""
    why = "; working configs make at least five times as many with such a budget" if rare else ""
    made = "allow" if planned_updates is not None else "came with about"
    summary = f"{steps:,.0f} env steps {made} {updates:,.0f} gradient updates{in_rounds}{why}"
    key = "rollout_size" if facts.is_on_policy else "train_freq"
    evidence = (
        setting_evidence(facts, key, updates, limits.few, note="gradient updates in the budget"),
        *((setting_evidence(facts, key, rounds, limits.few_rollouts, note="rollouts"),) if rounds is not None else ()),
    )
    sure = 0.85 if rare else 0.65
    return RuleResult(Severity.WARNING if bad else Severity.INFO, sure if bad else 0.4, summary, evidence)

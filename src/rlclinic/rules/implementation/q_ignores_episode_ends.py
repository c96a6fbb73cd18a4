"""Values are as large as if no episode ever ended.

What it sees: Every step pays the same and episodes end long before the horizon of gamma, but the mean value settles at
pay / (1 - gamma), which only an endless episode earns. Or Q runs away beyond it while its loss stays small: where an
end is worth nothing more, Q can only be large if each step on the way there adds an error of Q / length.
Why it hurts: Terminal states are bootstrapped: the done mask is missing in the target, or the stored flag is always
False. Ending then costs nothing, and the agent does not learn to avoid it.
Evidence needed: q/mean or value/mean, gamma in the config, a return and episode lengths logged together; for Q that
runs away the loss and epsilon as well.
Looks alike: Overestimation that passes by this level (it must rest there for a third of the run), or that runs away
with the loss that must come with it. Random actions, whose values the bound on the loss does not hold for. Episodes
cut by a time limit, whose value rightly goes on: only episodes much shorter than the longest ones count.
What to change: Multiply the bootstrap by (1 - terminated); check that the buffer stores the flag of the same step.
References: DLR-RM/stable-baselines3 1.0 (terminal observation in replay); ray#10416.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.episodes import pairs_of
from rlclinic.facts.q_values import q_series, rewards_rescaled
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median
from rlclinic.signals.return_on_length import return_on_length

RULE = Rule(
    "IMP04",
    needs=("q/mean|q1/mean|policy_loss|value/mean", "config:gamma", "return/train", "episode_length"),
    step=DecisionStep.CRITIC,
)


class Limits(RuleLimits):
    there: float = 0.1
    """Relative distance from pay / (1 - gamma) that counts as being there."""
    at_rest: float = 0.03
    """Change within the last third, as a share of that level, that still counts as rest."""
    run_away: float = 3.0
    """Times that level beyond which Q has run away."""
    too_small: float = 0.3
    """Share of the least error per step that the loss must stay below; target networks and old data shift it by a
    factor."""
    nearly_greedy: float = 0.1
    """Share of random actions up to which the actions in the replay buffer are those that Q is taken at."""
    earned: float = 0.6
    """Share of that level that the longest episode seen may earn; above it, ends hardly matter."""
    same_pay: float = 0.9
    """Share of the scatter of returns that their length must explain, for the pay per step to be one number."""
    over_mean: float = 3.0
    """A single episode may be this many times longer than the longest mean."""
    fewest_points: int = 20


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the level of the last third against endless and against real episodes."""
    value, gamma, pairs = _value(facts), facts.setting("gamma"), pairs_of(facts)
    if value is None or gamma is None or pairs is None or not 0.0 < gamma < 1.0 or rewards_rescaled(facts):
        return None
    paid = return_on_length(pairs.returns, pairs.lengths)
    if len(value) < limits.fewest_points or not paid.enough or not paid.explained >= limits.same_pay:
        return None
    endless = paid.slope / (1.0 - gamma)
    longest = float(np.max(pairs.lengths)) * (1.0 if pairs.are_single else limits.over_mean)
    earned = abs(endless) * (1.0 - gamma**longest)
    if earned > limits.earned * abs(endless) or not abs(endless) > 0.0:
        return None
    late = value.values[-max(1, len(value) // 3) :]
    level = median(late)
    if facts.is_off_policy and abs(level) > limits.run_away * abs(endless):
        return _too_little_error(facts, value, level, endless, limits)
    part = max(1, late.size // 3)
    moved = abs(median(late[-part:]) - median(late[:part]))
    if not bool(np.all(np.abs(late / endless - 1.0) < limits.there)) or moved > limits.at_rest * abs(endless):
        return None
    summary = (
        f"{value.logged_as} stays at {level:.4g}, which is the pay of {paid.slope:.3g} per step over 1 - gamma; "
        f"the longest episode ({longest:,.0f} steps) is worth {np.sign(endless) * earned:.4g} at most"
    )
    evidence = (
        facts.evidence(value.name, level, endless, note="median of the last third, against pay / (1 - gamma)"),
        facts.evidence("episode_length", longest, note="longest episode seen"),
    )
    onset = float(value.steps[-late.size])
    # Overestimated Q may come to rest at the same level; a value of what the policy did may not.
    if facts.is_off_policy:
        return RuleResult(Severity.INFO, 0.5, summary, evidence, onset)
    return RuleResult(Severity.ERROR, 0.75, summary, evidence, onset)


def _too_little_error(
    facts: RunFacts, value: Series, level: float, endless: float, limits: Limits
) -> RuleResult | None:
    """Hold the loss against the error that Q needs to come down to nothing at the ends.

    Along an episode Q(first step) <= return + the sum of the TD errors, if the last target is the pay alone. A squared
    or Huber loss of errors above one is at least half their mean size.
    """
    loss, lengths = facts.late("value_loss", 1.0 / 3.0), facts.series("episode_length")
    epsilon = facts.late("epsilon", 0.5)
    if loss is None or lengths is None or epsilon is None or epsilon.value > limits.nearly_greedy:
        return None
    counted = lengths.values[np.isfinite(lengths.values) & (lengths.values > 0)]
    ends = float(np.mean(1.0 / counted))  # share of the transitions that end an episode
    least = ends * (abs(level) - abs(endless))
    if not loss.value < limits.too_small * least:
        return None
    summary = (
        f"{value.logged_as} ran away to {level:.4g} (an endless episode is worth {endless:.4g}) with a loss of "
        f"{loss.value:.3g}; if the {100 * ends:.2g}% of the steps that end an episode were targets without a future, "
        f"its errors would have to be about {least:.3g}"
    )
    evidence = (
        facts.evidence(value.name, level, limits.run_away * endless, note="median of the last third"),
        facts.evidence("value_loss", loss.value, limits.too_small * least, level=loss, note="against the least error"),
    )
    return RuleResult(Severity.WARNING, 0.6, summary, evidence, None)


def _value(facts: RunFacts) -> Series | None:
    return q_series(facts) if facts.is_off_policy else facts.series("value/mean")

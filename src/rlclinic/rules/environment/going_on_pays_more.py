"""Going on pays more than getting it done.

What it sees: An episode ends with a reward above that of any step, but the steps before it paid so much that staying
there would have been worth more, or the same step is paid again and again and going round is worth more; or each step
pays a level that was built up over the episode, as a running total is, instead of what it added.
Why it hurts: The agent learns to stay near the goal and not to reach it; of a total, early gains are paid again at
every later step, and what a step achieved is hidden.
Evidence needed: three such ends under any policies; or some hundred steps.
Looks alike: A task in which staying is the aim and the end a failure: there the end pays no more than a step. A level
that the observation shows, such as a position: there the step foretells what it pays.
What to change: Pay the change (of the total, of the distance) instead of the level, or a bonus at the goal that is
larger than what the remaining steps would pay.
References: Ng, Harada, Russell 1999; Randlov and Alstrom 1998; four-phase method, step 1.5.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV70",
    needs=("environment:reward",),
    step=DecisionStep.REWARD,
    causes={"reward-favours-staying": 7.0, "reward-hacking": 5.0, "uninformative-reward": 2.0},
)


class Limits(RuleLimits):
    fewest: int = 3
    """Ends at a goal, where `info` calls none of them a success."""
    most: float = 0.5
    """Share of them at which going on would have paid more."""
    positive: float = 0.95
    """Share of steps that pay more than nothing: else it is progress that is paid before an end, not the place."""
    times: float = 1.0
    """What going round may pay, discounted, over what the end pays."""
    kept: float = 0.9
    """Share of the variance of rewards that the reward before foretells, of a level that is built up."""
    left: float = 0.2
    """What the reward before leaves open of a reward, over what the step itself leaves open."""
    told: float = 0.5
    """Share that the step itself foretells from which on the level may be one that is seen."""
    first: float = 0.25
    """Spread of the first rewards over that of all: a total begins anew in each episode."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the end with going on, and the reward with the one before."""
    env = facts.measured
    reward = env.reward
    assert reward is not None
    told = env.episodes is not None and env.episodes.success_rate > 0.0
    if (
        reward.goals >= (1 if told else limits.fewest)
        and reward.forfeits > limits.most
        and reward.positive > limits.positive
    ):
        summary = (
            f"{reward.goals} episodes ended with more pay than any step, but in {100 * reward.forfeits:.3g}% of them "
            "steps as those just before the end would have paid more than the end"
        )
        evidence = measured("ends at which going on pays more", reward.forfeits, limits.most, reward.goals)
        return RuleResult(Severity.ERROR, 0.85, summary, (evidence,))
    if reward.loops >= limits.fewest and reward.loop_worth > limits.times * reward.goal_pays:
        summary = (
            f"{reward.loops} times exactly the same step was paid again in its episode; going round like that pays "
            f"{reward.loop_worth:.3g} in all, the end {reward.goal_pays:.3g}"
        )
        evidence = measured("what going round pays", reward.loop_worth, reward.goal_pays, reward.loops)
        return RuleResult(Severity.WARNING, 0.8, summary, (evidence,))
    left = (1.0 - reward.by_last) / max(1.0 - reward.explained, 1e-9)
    kept = reward.by_last > limits.kept and left < limits.left and reward.explained < limits.told
    if not (kept and reward.first_spread < limits.first):
        return None
    summary = (
        f"the reward before foretells {100 * reward.by_last:.3g}% of a reward and the step itself "
        f"{100 * reward.explained:.3g}%, and episodes begin alike: a level that builds up is paid, not what a step adds"
    )
    evidence = measured("left open by the reward before", left, limits.left, env.steps)
    return RuleResult(Severity.WARNING, 0.85, summary, (evidence,))

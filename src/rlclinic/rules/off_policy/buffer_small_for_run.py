"""The replay buffer holds only a small, recent part of the experience.

What it sees: A buffer that keeps at most a twentieth of the run's steps and fewer than 20 episodes.
Why it hurts: The agent learns from what its own latest policy did, forgets what it once knew, and samples in a batch
are nearly copies of each other.
Evidence needed: buffer_size in the config, the steps or the budget, and episode lengths.
Looks alike: Long runs on images keep 1% of their steps and work, because that still is hundreds of episodes. Without
a loss of return it is only a note.
What to change: Raise buffer_size to the budget, or as far as memory allows (for images store uint8).
References: Fedus et al. 2020 (arXiv 2007.06700); Zhang and Sutton 2017 (arXiv 1712.01275).
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.offline import is_offline
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("OFF08", needs=("config:buffer_size", "episode_length"), algorithms=("q-learning", "continuous-q"))


class Limits(RuleLimits):
    small_share: float = 0.05
    """Share of the run that the buffer keeps."""
    few_episodes: float = 20.0
    """Episodes that it keeps."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count the share of the run and the episodes that fit into the buffer."""
    size, length = positive(facts, "buffer_size"), _episode_steps(facts, limits)
    whole = max(facts.run.env_steps or 0.0, facts.run.budget or 0.0)
    if size is None or length is None or is_offline(facts) or whole <= 0 or facts.is_on_policy:
        return None
    share, episodes = size / whole, size / length
    if share > limits.small_share or episodes > limits.few_episodes:
        return None
    bad = failed(facts)
    summary = (
        f"the replay buffer keeps {size:,.0f} steps, {100 * share:.2g}% of {whole:,.0f} and about {episodes:.2g} "
        f"episodes of {length:.0f} steps"
    )
    evidence = (
        setting_evidence(facts, "buffer_size", share, limits.small_share, note="share of the run's steps"),
        setting_evidence(facts, "buffer_size", episodes, limits.few_episodes, note="episodes that fit"),
    )
    return RuleResult(Severity.WARNING if bad else Severity.INFO, 0.5 if bad else 0.4, summary, evidence)


def _episode_steps(facts: RunFacts, limits: Limits) -> float | None:
    """Env steps per episode. A monitor behind frame skipping counts frames, so steps over episodes come first."""
    episodes, steps = facts.run.episodes, facts.run.env_steps
    if episodes is not None and len(episodes) >= limits.few_episodes and steps:
        return steps / len(episodes)
    level = facts.late("episode_length", 0.5)
    return level.value if level is not None and level.value > 0 else None

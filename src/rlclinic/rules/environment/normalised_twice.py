"""Rewards or observations are normalised twice.

What it sees: Two wrappers, or a wrapper and the trainer, divide by running statistics of the same thing.
Why it hurts: The second follows the drift of the first: the scale moves while the critic learns, and clipping inside
cuts what the outer one would have kept.
Evidence needed: an environment with its wrappers; for the trainer's part its run.
Looks alike: Fixed factors, which do not drift.
What to change: Keep the one that is saved with the model, VecNormalize with Stable-Baselines3, and take the other away.
References: check 12 of the environment checks; Stable-Baselines3 documentation, VecNormalize.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

RULE = Rule(
    "ENV69",
    needs=("environment:episodes",),
    step=DecisionStep.ENVIRONMENT,
    causes={"normaliser-statistics-wrong": 6.0},
)
SETTINGS = {"rewards": "normalize_reward", "observations": "normalize_obs"}


def check(facts: RunFacts) -> RuleResult | None:
    """Count who normalises what."""
    for thing, setting in SETTINGS.items():
        by = [one.wrapper for one in facts.measured.normalisers if one.of == thing]
        by += ["the trainer"] if facts.run.config.get(setting) is True else []
        if len(by) > 1:
            summary = f"{thing} are normalised {len(by)} times: by {' and by '.join(by)}"
            return RuleResult(Severity.WARNING, 0.85, summary, (measured("times normalised", len(by), 1.0),))
    return None

"""The config holds values that cannot work.

What it sees: A value outside its range (a discount above one, a negative learning rate, a clip range of zero), or a
batch that the framework refuses for this rollout.
Why it hurts: The framework raises before the first update, or trains on something that has no meaning.
Evidence needed: the config.
Looks alike: Values with a meaning of their own in one framework (-1 for "not set" or "as many as collected"); these
are left alone.
What to change: Set the value inside its range; choose a batch size that divides the rollout (n_envs times n_steps).
References: gymnasium-solver utils/config.py at a80484c3; RLlib PPOConfig.validate; TRL GRPOConfig.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.facts.update_count import rollout
from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Status
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "CFG02", needs=("config:learning_rate|config:gamma|config:batch_size|config:n_steps",), means=(Sign.MISCONFIGURED,)
)

# Inclusive lower and upper bounds of what has any meaning; None for no bound.
RANGES: dict[str, tuple[float | None, float | None]] = {
    "gamma": (0.0, 1.0),
    "gae_lambda": (0.0, 1.0),
    "learning_rate": (0.0, None),
    "vf_coef": (0.0, None),
    "exploration_initial": (0.0, 1.0),
    "exploration_final": (0.0, 1.0),
    "tau": (0.0, 1.0),
    "learning_starts": (0.0, None),
    "n_envs": (1.0, None),
    "n_steps": (1.0, None),
    "n_epochs": (0.0, None),
    "group_size": (1.0, None),
    "temperature": (0.0, None),
}
ABOVE_ZERO = ("clip_range", "batch_size", "buffer_size")


class Limits(RuleLimits):
    unset: float = -1.0
    """Frameworks that write -1 for a number that is not set."""


LIMITS = Limits()
# Frameworks that raise where the batch does not divide the rollout, or is larger than it.
MUST_DIVIDE = frozenset({"gymnasium-solver"})
MUST_FIT = frozenset({"gymnasium-solver", "rllib"})


@dataclass(frozen=True, slots=True)
class Wrong:
    """One value that cannot work, and why."""

    name: str
    value: float
    bound: float
    why: str


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold every number against its range, and the batch against the rollout."""
    curve = facts.curve
    if curve is not None and curve.improved:
        # What trained and improved was valid, whatever the key means there.
        return None
    found = [*_out_of_range(facts, limits), *_batch(facts)]
    if not found:
        return None
    settings = facts.run.config.settings
    listed = "; ".join(f"{settings[item.name].native_key} {item.value:.4g} {item.why}" for item in found[:3])
    evidence = tuple(setting_evidence(facts, item.name, item.value, item.bound, note=item.why) for item in found)
    crashed = facts.run.status.state is Status.CRASHED
    return RuleResult(Severity.ERROR, 0.97 if crashed else 0.9, listed, evidence)


def _out_of_range(facts: RunFacts, limits: Limits) -> list[Wrong]:
    found: list[Wrong] = []
    for name, (low, high) in RANGES.items():
        value = facts.setting(name)
        if value is None or value == limits.unset:
            continue
        if low is not None and value < low:
            found.append(Wrong(name, value, low, f"is below {low:g}"))
        elif high is not None and value > high:
            found.append(Wrong(name, value, high, f"is above {high:g}"))
    for name in ABOVE_ZERO:
        value = facts.setting(name)
        if value is not None and value != limits.unset and value <= 0:
            found.append(Wrong(name, value, 0.0, "must be above 0"))
    return found


def _batch(facts: RunFacts) -> list[Wrong]:
    size, whole, framework = facts.setting("batch_size"), rollout(facts), facts.run.framework
    if size is None or whole is None or size <= 1 or not facts.is_on_policy:
        return []
    if framework in MUST_FIT and size > whole:
        return [Wrong("batch_size", size, whole, f"is larger than the rollout of {whole:.4g}")]
    if framework in MUST_DIVIDE and whole % size:
        return [Wrong("batch_size", size, whole, f"does not divide the rollout of {whole:.4g}")]
    return []

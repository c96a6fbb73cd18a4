"""A loss or another quantity of the update became NaN or infinite.

What it sees: Logged values that are not finite in losses, KL, gradients, Q values, entropies or advantages, since
when, and which metric was first; infinite returns, and such as were numbers and stay NaN, or are lost together with
the rewards of single steps. In few rows the last one is enough.
Why it hurts: One NaN in the weights turns every later output into NaN. What came before the onset is the cause, what
came after is not.
Evidence needed: any metric of the update.
Looks alike: A return that is NaN until the first episode ends, or in rows without an ended episode. Explained
variance of constant returns. A metric that was never defined. One missing value in an otherwise finite series.
What to change: Look at the metric that failed first: inputs and rewards for value losses, log-probabilities and
standard deviations for KL and entropy. Clip gradients, bound log_std, check observations for infinities.
References: hill-a/stable-baselines#806; DLR-RM/stable-baselines3#1593; leggedrobotics/rsl_rl#33.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.return_state import LASTING, became_undefined
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "OPT05",
    needs=("policy_loss|value_loss|loss|grad_norm|approx_kl|entropy|q/mean|return/train|return/eval",),
    step=DecisionStep.NUMBERS,
)

UPDATE = ("policy_loss", "value_loss", "loss", "grad_norm", "approx_kl", "entropy", "td_error", "alpha", "alpha_loss",
          "kl_ref", "learning_rate")  # fmt: skip
UPDATE_FAMILIES = ("grad_norm/", "q/", "q1/", "q2/", "advantage/", "value/", "action_std/", "importance_ratio")
RETURNS = ("return/train", "return/eval")


class Limits(RuleLimits):
    lasting: int = LASTING
    """Trailing points that are enough on their own; with two metrics one point each is enough."""
    few: int = 12
    """Points of a series of which the last alone is enough: whoever shows so few shows what is wrong."""
    often: float = 0.05
    """Share of non-finite points above which single gaps are no accident."""
    shown: int = 4


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class _Broken:
    series: Series
    bad: int
    trailing: int
    onset: float


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Collect what is not finite, in the order in which it began."""
    broken = sorted(_broken(facts), key=lambda item: (item.onset, -item.trailing))
    if not broken:
        return None
    lasting = [item for item in broken if item.trailing]
    for_good = (
        any(item.trailing >= limits.lasting or item.series.name in RETURNS for item in lasting)
        or len(lasting) > 1
        or any(item.bad == item.trailing < len(item.series) and len(item.series) <= limits.few for item in lasting)
        # A missing value is NaN; nothing but an overflow is infinite.
        or any(np.isinf(item.series.values[-1]) for item in lasting)
    )
    often = any(item.bad > limits.often * len(item.series) and item.bad >= limits.lasting for item in broken)
    chosen = lasting if for_good else broken
    names = ", ".join(item.series.logged_as for item in chosen[: limits.shown])
    more = f" and {len(chosen) - limits.shown} more" if len(chosen) > limits.shown else ""
    first = chosen[0]
    how = "to the end" if for_good else f"in {first.bad} of {len(first.series)} points"
    are = "is" if len(chosen) == 1 else "are"
    summary = f"{names}{more} {are} not finite {how}, first at step {first.onset:,.0f}"
    evidence = tuple(
        facts.evidence(
            item.series.name, float(item.bad), 0.0, note=f"points not finite, first at step {item.onset:,.0f}"
        )
        for item in chosen[: limits.shown]
    )
    severity = Severity.ERROR if for_good else Severity.WARNING if often else Severity.INFO
    return RuleResult(severity, 0.95 if for_good else 0.6, summary, evidence, first.onset)


def _broken(facts: RunFacts) -> list[_Broken]:
    found: list[_Broken] = []
    losses = [s for name, s in facts.run.series.items() if name in ("policy_loss", "value_loss", "loss") and len(s)]
    all_lost = bool(losses) and not any(np.isfinite(s.values).any() for s in losses)
    for name, series in facts.run.series.items():
        bad = ~np.isfinite(series.values)
        if name in RETURNS and not became_undefined(facts, series):
            bad = np.isnan(series.values) if _of_ended_episodes(facts, series) else np.isinf(series.values)
        if not _counts(name) or not bad.any():
            continue
        if bad.all() and not (all_lost and (series in losses or name in RETURNS)):
            continue
        good = np.flatnonzero(~bad)
        trailing = len(series) - 1 - int(good[-1]) if good.size else len(series)
        start = int(good[-1]) + 1 if trailing and good.size else int(bad.argmax())
        # Undefined values before the first good one are rows without data.
        if good.size and not trailing and not bad[int(good[0]) :].any():
            continue
        found.append(_Broken(series, int(bad.sum()), trailing, float(series.steps[start])))
    return found


def _of_ended_episodes(facts: RunFacts, returns: Series) -> bool:
    """Whether episodes whose length is known got no return in any row."""
    lengths = facts.run.series.get("episode_length")
    ended = lengths is not None and len(lengths) == len(returns) and bool(np.isfinite(lengths.values).all())
    return ended and not np.isfinite(returns.values).any()


def _counts(name: str) -> bool:
    # Whoever has more than one model gives each loss a name of its own.
    return name in UPDATE or name in RETURNS or name.startswith(UPDATE_FAMILIES) or name.casefold().endswith("loss")

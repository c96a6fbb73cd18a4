"""From evidence to causes: every hypothesis, `nothing-wrong` and `unknown` included, gets a probability.

What counts, and how much, stands in weights.toml; `evidence.py` gathers the pieces of a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from rlclinic.causes.catalogue import NOTHING_WRONG, OF_CONTROL, UNKNOWN, catalogue
from rlclinic.causes.evidence import pieces_of, seen_in
from rlclinic.causes.weights import VERDICT, CauseWeights, Weights, weights
from rlclinic.facts.goal_status import GoalStatus
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.unusual_settings import unusual
from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.explanation import Explanation
from rlclinic.model.finding import Finding
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.rules.registry import SPECIAL_FAMILIES, measured_rules, special_rules

IMPLEMENTATION_BUG = "implementation-bug"
NOT_KNOWN = GoalStatus()
# Probability that stands for none.
LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class Posterior:
    """What the table says of one run."""

    causes: tuple[Cause, ...]
    """By probability; those that are too unlikely are left out."""
    classes: Mapping[str, float]
    """The probability of each class, the likeliest first."""
    explanations: Mapping[str, Explanation]
    """Of every cause in question."""


def causes_of(
    facts: RunFacts,
    verdict: Verdict,
    findings: Sequence[Finding],
    checked: frozenset[str],
    *,
    applicable: frozenset[str] | None = None,
    after_the_fall: frozenset[str] = frozenset(),
    component: str | None = None,
    status: GoalStatus = NOT_KNOWN,
    seeds: Sequence[Mapping[str, Explanation]] = (),
) -> Posterior:
    """The probability of every cause.

    `applicable` names the rules that are about runs of this kind: a cause none of whose signs is among them is about
    another kind of algorithm and out of the question. Findings whose codes are in `after_the_fall` began when the harm
    was done: they count in part. `component` is what a bug in the implementation would be about. `status` says how
    the run stands against its goal. `seeds` are the explanations of other seeds of the same config that ended alike:
    what only one of them shows is its luck, so that all weigh the same before a cause is named.
    """
    known = frozenset(key for key in weights().suspects if unusual(facts, key) is not None)
    table = _in_question(weights(), applicable, known, is_language_model=facts.is_language_model)
    seen = seen_in(
        facts,
        verdict,
        findings,
        checked,
        unchecked=len(applicable - checked) / len(applicable) if applicable else 0.0,
        after_the_fall=after_the_fall,
        status=status,
        table=table,
    )
    blind = table.temperature.of(seen.facts, has_config=False)
    sharp = table.temperature.of(seen.facts, has_config=bool(facts.run.config.settings))
    pieces, by_metrics, by_config, scores = {}, {}, {}, {}
    for cause, row in table.causes.items():
        pieces[cause] = found = pieces_of(row, seen, table)
        # The piece of the setting is the last.
        of_setting = found[-1].value if found and found[-1].kind == "setting" else 0.0
        of_metrics = sum([piece.value for piece in found if piece.kind != "setting"])
        by_metrics[cause] = blind * (row.log_prior + of_metrics)
        by_config[cause] = sharp * (row.log_prior + of_setting)
        scores[cause] = sharp * (row.log_prior + (of_metrics + of_setting))
    metrics, config, rest = _probabilities(by_metrics), _probabilities(by_config), -_total(scores)
    # Every probability with its pieces, which sum to its logarithm.
    both = {
        cause: Explanation(cause, math.exp(score + rest), table.causes[cause].log_prior, pieces[cause], sharp, rest)
        for cause, score in scores.items()
    }
    if table.doubt.when in seen.facts:
        both = _doubted(both, table)
    if seeds:
        both = _pooled(both, seeds)
    entries = catalogue()
    causes = tuple(
        Cause(
            cause,
            entries[cause].cause_class,
            entries[cause].kind,
            entries[cause].meaning,
            both[cause].probability,
            metrics[cause],
            config[cause],
            component if cause == IMPLEMENTATION_BUG else None,
            tuple(item.text for item in pieces[cause] if item.value > 0),
            tuple(item.text for item in pieces[cause] if item.value < 0),
        )
        for cause in sorted(
            (cause for cause, one in both.items() if one.probability >= table.least_told),
            key=lambda cause: -both[cause].probability,
        )
    )
    classes: dict[str, float] = {}
    for cause, one in both.items():
        classes[entries[cause].cause_class] = classes.get(entries[cause].cause_class, 0.0) + one.probability
    return Posterior(causes, dict(sorted(classes.items(), key=lambda item: -item[1])), both)


@lru_cache
def _in_question(
    table: Weights, applicable: frozenset[str] | None, known: frozenset[str], *, is_language_model: bool
) -> Weights:
    """The table without causes that nothing could show in such a run, or that such a run cannot have."""
    never = OF_CONTROL if is_language_model else frozenset()
    rows = {cause: row for cause, row in table.causes.items() if row.has_evidence and cause not in never}
    if applicable is not None:
        telling = table.findings.telling
        rows = {
            cause: row
            for cause, row in rows.items()
            if cause == NOTHING_WRONG or _can_show(cause, row, applicable, known, telling)
        }
    return replace(table, causes=rows)


def _can_show(cause: str, row: CauseWeights, applicable: frozenset[str], known: frozenset[str], telling: float) -> bool:
    """Whether a sign that tells it from others can be seen in such a run, or a setting that is known; weak signs are
    common to many causes."""
    told = {name: weight for name, weight in row.signs.items() if not name.startswith(VERDICT)}
    # What only an examined or watched environment shows, or another way of learning, sets no measure for other runs.
    is_special = catalogue()[cause].cause_class in SPECIAL_FAMILIES
    elsewhere = measured_rules() if is_special else measured_rules() | special_rules()
    signs = {name: weight for name, weight in told.items() if name in applicable or name not in elsewhere}
    if told and not signs and not row.per:
        return any(item.key in known for item in row.settings)
    least = telling * max(signs.values(), default=0.0)
    return not signs or any(name in applicable for name, weight in signs.items() if weight >= least)


def _total(scores: Mapping[str, float]) -> float:
    top = max(scores.values())
    return top + math.log(sum([math.exp(score - top) for score in scores.values()]))


def _probabilities(scores: Mapping[str, float]) -> dict[str, float]:
    total = _total(scores)
    return {cause: math.exp(score - total) for cause, score in scores.items()}


def _doubted(found: Mapping[str, Explanation], table: Weights) -> dict[str, Explanation]:
    """Part of the causes that say that the trainer works goes to `unknown`."""
    doubted, share = dict(found), table.doubt.share
    moved = sum(share * found[cause].probability for cause in table.doubt.sources if cause in found)
    shares = {cause: 1.0 - share for cause in table.doubt.sources if cause in found}
    shares[UNKNOWN] = 1.0 + moved / found[UNKNOWN].probability
    for cause, factor in shares.items():
        one = found[cause]
        doubted[cause] = one._replace(probability=factor * one.probability, doubt=math.log(factor))
    return doubted


def _pooled(found: Mapping[str, Explanation], seeds: Sequence[Mapping[str, Explanation]]) -> dict[str, Explanation]:
    """The geometric mean over seeds, which resemble each other too much to multiply what they show."""
    own = {cause: _log(one.probability) for cause, one in found.items()}
    others = [{cause: _log(seed[cause].probability) for cause in seed} for seed in seeds]
    means = {
        cause: (value + sum(other.get(cause, value) for other in others)) / (1 + len(others))
        for cause, value in own.items()
    }
    pooled = _probabilities(means)
    return {
        cause: one._replace(probability=pooled[cause], seeds=_log(pooled[cause]) - own[cause])
        for cause, one in found.items()
    }


def _log(probability: float) -> float:
    return math.log(max(probability, LEAST))

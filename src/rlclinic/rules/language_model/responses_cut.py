"""Many responses are cut at the length cap.

What it sees: A large or growing share of the responses ends at the cap instead of with an end token, while the score
does not rise.
Why it hurts: A cut answer has no final part to score, so it earns nothing whatever its reasoning; if most are cut, the
model learns from the few short ones.
Evidence needed: truncated_fraction with at least 12 points, from a framework that measures truncation; elsewhere a mean
response length next to a configured cap.
Looks alike: An untrained model that rambles and learns to stop, where the share falls; metrics that count the
responses as long as the longest of their batch (Search-R1, AReaL).
What to change: Raise the cap on new tokens (TRL's default is 256), mask truncated responses out of the loss, or pay a
mild penalty for overlong ones; check that the end token of the template is the one the sampler stops at.
References: Yu et al. 2025 (DAPO, arXiv 2503.14476); huggingface/trl#5697; AReaL documentation: act above 0.05.
"""

from __future__ import annotations

from rlclinic.facts.language_model import change, is_progressing, told
from rlclinic.facts.reward_parts import answer_never_paid
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.facts.stretch import finite, lasting_from
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("LMR02", needs=("truncated_fraction|response_length",), algorithms=("language-model", "ppo"))


class Limits(RuleLimits):
    many: float = 0.3
    """Share of cut responses: a third lost is a large part of the signal; nearly all leaves none."""
    nearly_all: float = 0.9
    rose: float = 0.15
    """A rise by this much to at least this share is a runaway in the making."""
    learning_to_stop: float = 0.7
    """Late over early share below which the model is learning to stop."""
    near_cap: float = 0.9
    """Mean length over the cap from which on most responses must be at it, whatever the shape of the rest."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the late share of cut responses and its change."""
    series, levels = facts.series("truncated_fraction"), change(facts, "truncated_fraction")
    if series is None or levels is None or series.caveat:
        return _lengths_at_cap(facts, limits)
    early, late = levels
    rose = late.value - early.value >= limits.rose
    if (late.value < limits.many and not rose) or late.value < limits.learning_to_stop * early.value:
        return None
    severity, unpaid = _severity(facts, late.value, limits)
    cap = _cap(facts)
    at = f" at {cap:.0f} tokens" if cap is not None else ""
    summary = f"{100 * late.value:.3g}% of the responses are cut{at} ({100 * early.value:.3g}% early on)" + unpaid
    summary += f"; {told(facts)}"
    bar = limits.many if late.value >= limits.many else early.value + limits.rose
    evidence = [facts.evidence("truncated_fraction", late.value, bar, level=late, note="median of the last 15%")]
    if cap is not None:
        evidence.append(setting_evidence(facts, "max_response_length", cap, note="length cap in tokens"))
    steps, values = finite(series)
    confidence = {Severity.INFO: 0.3, Severity.WARNING: 0.8, Severity.ERROR: 0.95}[severity]
    return RuleResult(severity, confidence, summary, tuple(evidence), lasting_from(steps, values >= bar))


def _severity(facts: RunFacts, share: float, limits: Limits) -> tuple[Severity, str]:
    """How grave it is, and in words whether the cut explains that no answer is paid."""
    nearly_all, unpaid = share >= limits.nearly_all, answer_never_paid(facts)
    if unpaid and not nearly_all:
        return Severity.INFO, ", and those that end by themselves are not paid either"
    if is_progressing(facts) and not unpaid:
        return Severity.INFO, ""
    return (Severity.ERROR if nearly_all else Severity.WARNING), ", and no answer is ever paid" if unpaid else ""


def _lengths_at_cap(facts: RunFacts, limits: Limits) -> RuleResult | None:
    """The mean length beside the cap, where the share of cut responses is not measured."""
    cap, levels = _cap(facts), change(facts, "response_length")
    if cap is None or levels is None or is_progressing(facts) or not limits.near_cap * cap <= levels[1].value <= cap:
        return None
    late = levels[1]
    summary = (
        f"responses are {late.value:.4g} tokens long on average and may have {cap:.0f}: most are cut; {told(facts)}"
    )
    evidence = (
        facts.evidence("response_length", late.value, limits.near_cap * cap, level=late, note="median of the last 15%"),
        setting_evidence(facts, "max_response_length", cap, note="length cap in tokens"),
    )
    return RuleResult(Severity.WARNING, 0.6, summary, evidence)


def _cap(facts: RunFacts) -> float | None:
    """The cap as configured; a framework's default only where the longest responses come to it."""
    cap, setting = positive(facts, "max_response_length"), facts.run.config.settings.get("max_response_length")
    longest = facts.series("response_length/max")
    if cap is None or setting is None or not setting.is_default:
        return cap
    return cap if longest is not None and longest.highest == cap else None

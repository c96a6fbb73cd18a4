"""The sampler and the trainer give different probabilities to the same tokens.

What it sees: A measure of the gap between the engine that sampled the responses and the model that is trained lies
outside what the frameworks' own health checks allow, at the end or again and again; or the sampler is surer of every
token of a batch than the trainer.
Why it hurts: The update takes the data for its own when they are another policy's. The error is largest on rare tokens
and ends in a collapse long after it began.
Evidence needed: one of the mismatch metrics (KL, importance ratio, effective sample size, probability error) with at
least 12 points.
Looks alike: Deliberate off-policy training with a correction for it; one or two outliers.
What to change: Use the same temperature and precision in both, recompute old log-probabilities in the trainer, sample
with top_p 1 and no top_k, turn on the importance-sampling correction (cap 2), replay the routing of mixtures of
experts.
References: verl docs/algo/rollout_corr.md; NeMo-RL docs/guides/grpo.md; huggingface/trl PR #3867.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.language_model import MIN_POINTS, is_progressing, told
from rlclinic.facts.run_facts import RunFacts, WindowLevel
from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.rules.rule import Rule, RuleResult

RULE = Rule("LMR09", algorithms=("language-model", "ppo"))

PREFIX = "sampler_mismatch/"
# Lowest and highest sound value of each measure, from verl's health check and NeMo-RL's guide. They are free of scale:
# ratios, shares, and nats per token.
SOUND: dict[str, tuple[float, float]] = {
    "kl": (-0.1, 0.1),
    "k3_kl": (-0.1, 0.1),
    "reverse_kl": (-0.1, 0.1),
    "importance_ratio": (0.5, 2.0),
    "importance_ratio_avg": (0.5, 2.0),
    "importance_sampling_ratio/mean": (0.5, 2.0),
    "rollout_is_mean": (0.5, 2.0),
    "rollout_is_std": (0.0, 1.0),
    "rollout_is_eff_sample_size": (0.3, float("inf")),
    "tis": (0.5, 2.0),
    "chi2_token": (-1.0, 1.0),
    "token_mult_prob_error": (0.0, 1.05),
    # Of a normal log ratio, a KL of 0.1 nats is a mean size of 0.36.
    "sampling_logp_difference/mean": (0.0, 0.36),
}
# The mean ratio of trainer to sampler over the sampled tokens, and the largest. Rounding and old weights make some
# tokens likelier and others less likely, and leave a mean of 1; a sampler that is colder, or cuts its tail, is surer of
# all.
ONE_SIDED = (("importance_sampling_ratio/mean", "importance_sampling_ratio/max"), ("rollout_is_mean", "rollout_is_max"))
# Times that a gap comes back, each beyond what is sound and so many times what it usually is.
RECURRING = 3
BEYOND = 10.0
# Share of the late points at which no token of the batch was likelier to the trainer.
MOSTLY = 0.5
# The mean then: NeMo-RL's guide looks into 5%.
SURER = 0.95


@dataclass(frozen=True, slots=True)
class Gap:
    """One measure outside its sound range."""

    name: str
    late: WindowLevel
    bound: float


def check(facts: RunFacts) -> RuleResult | None:
    """Hold every mismatch metric against its sound range."""
    gaps = [gap for name in facts.run.series if (gap := _gap(facts, name)) is not None]
    spikes = None if gaps else _spikes(facts)
    surer = None if gaps or spikes else _surer(facts)
    if surer is not None:
        gaps = [surer]
    if spikes is not None:
        return spikes
    if not gaps:
        return None
    series = facts.run.series
    listed = ", ".join(
        f"{series[gap.name].logged_as} {gap.late.value:.3g} ({_sound(gap)} {gap.bound:g})" for gap in gaps[:3]
    )
    which = "the sampler is surer of every token than the trainer" if surer else "sampler and trainer disagree"
    summary = f"{which}: {listed}; {told(facts)}"
    evidence = tuple(
        facts.evidence(gap.name, gap.late.value, gap.bound, level=gap.late, note="median of the last 30%")
        for gap in gaps
    )
    severity = Severity.INFO if is_progressing(facts) else Severity.WARNING
    return RuleResult(severity, 0.7, summary, evidence)


def _sound(gap: Gap) -> str:
    return "sound to" if gap.late.value > gap.bound else "sound from"


def _spikes(facts: RunFacts) -> RuleResult | None:
    """A gap that is sound mostly and comes back again and again: weights that reach the sampler late."""
    for name in (PREFIX + "kl", PREFIX + "k3_kl", PREFIX + "reverse_kl", "approx_kl"):
        series = facts.series(name)
        if series is None or len(series) < MIN_POINTS:
            continue
        sizes = np.abs(series.values)
        usual, bound = float(np.nanmedian(sizes)), SOUND["kl"][1]
        beyond = sizes > max(bound, BEYOND * usual)
        times = int(np.count_nonzero(beyond[1:] & ~beyond[:-1]))
        if times < RECURRING:
            continue
        summary = (
            f"{series.logged_as} lies above {bound:g} nats {times} times, up to {np.nanmax(sizes):.3g}, and is "
            f"{usual:.3g} between: as if the sampler held old weights; {told(facts)}"
        )
        evidence = (facts.evidence(name, float(times), float(RECURRING), note="times beyond what is sound"),)
        return RuleResult(Severity.WARNING, 0.7, summary, evidence)
    return None


def _surer(facts: RunFacts) -> Gap | None:
    """A ratio that stays below 1 for all tokens of a batch: two engines that differ by noise err to both sides."""
    for mean, largest in ONE_SIDED:
        late, series = facts.late(PREFIX + mean, 0.3), facts.series(PREFIX + largest)
        if late is None or series is None or len(series) < MIN_POINTS or late.value > SURER:
            continue
        values = series.values[-max(1, len(series) // 3) :]
        if float(np.mean(values < 1.0)) >= MOSTLY:
            return Gap(PREFIX + mean, late, SURER)
    return None


def _gap(facts: RunFacts, name: str) -> Gap | None:
    bounds = SOUND.get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    late = facts.late(name, 0.3)
    if bounds is None or late is None or len(facts.run.series[name]) < MIN_POINTS:
        return None
    low, high = bounds
    if low <= late.value <= high:
        return None
    return Gap(name, late, high if late.value > high else low)

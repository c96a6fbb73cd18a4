"""The rules: code, name, family, and what each needs. One row per rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from types import ModuleType

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.errors import RlclinicError, UsageError, contained
from rlclinic.model.finding import Finding, NotChecked, Severity
from rlclinic.rules.result import RuleResult


@dataclass(frozen=True)
class Row:
    """One rule."""

    code: str
    name: str
    """Kebab-case; never the id of a cause."""
    family: str
    needs: tuple[str, ...] = ()
    """Metrics that must be there, or `config:<hyperparameter>`; `a|b` means either, `a/*` any member of a family."""
    algorithms: tuple[str, ...] = ()
    """Families of algorithms it is about; empty for all."""
    covered_by: tuple[str, ...] = ()
    """Codes of findings that say the same better, or explain it away: beside one of them this one is a note."""

    @cached_property
    def module(self) -> ModuleType:
        """The rule's file; imported when it is first needed."""
        return import_module(f"rlclinic.rules.{self.family}.{self.name.replace('-', '_')}")

    def applies(self, facts: RunFacts) -> bool:
        """Whether the rule is about runs of this kind; an unknown algorithm might be any."""
        if self.family == "language_model" and not facts.is_language_model:
            return False
        return not self.algorithms or not facts.families or bool(facts.families & set(self.algorithms))

    @property
    def title(self) -> str:
        """The first line of the rule's documentation."""
        return (self.module.__doc__ or "").split("\n", 1)[0].rstrip(".")


ROWS: tuple[Row, ...] = (
    Row("SUC01", "threshold-reached", "success", ("return/train|return/eval",)),
    Row("SUC02", "below-threshold", "success", ("return/train|return/eval",)),
    Row("SUC03", "slow-to-threshold", "success", ("return/train|return/eval",)),
    Row("SUC04", "no-better-than-random", "success", ("return/train|return/eval",)),
    Row("SUC05", "far-below-published", "success", ("return/train|return/eval",)),
    Row("CNV01", "plateau-below-goal", "convergence", ("return/train|return/eval",)),
    Row("CNV02", "still-rising-at-end", "convergence", ("return/train|return/eval",)),
    Row("CNV03", "large-swings", "convergence", ("return/train|return/eval",)),
    Row("CNV04", "regression-from-best", "convergence", ("return/train|return/eval",)),
    Row("CNV05", "return-fell-to-start", "convergence", ("return/train|return/eval",)),
    Row("CNV06", "never-improved", "convergence", ("return/train|return/eval",)),
    Row("CNV07", "lucky-last-evaluation", "convergence", ("return/eval",)),
    Row("CNV08", "return-exactly-constant", "convergence", ("return/train|return/eval",)),
    Row(
        "CNV09",
        "policy-moves-return-does-not",
        "convergence",
        ("entropy", "approx_kl", "config:n_actions", "return/train|return/eval"),
        ("ppo", "actor-critic"),
    ),
    Row("POL01", "entropy-fell-early", "policy", ("entropy", "return/train|return/eval"), ("ppo", "actor-critic")),
    Row("POL02", "entropy-stays-maximal", "policy", ("entropy", "return/train|return/eval"), ("ppo", "actor-critic")),
    Row("POL03", "entropy-rises", "policy", ("entropy", "return/train|return/eval"), ("ppo", "actor-critic")),
    Row("POL04", "kl-too-large", "policy", ("approx_kl",), ("ppo", "actor-critic")),
    Row("POL05", "kl-vanishes", "policy", ("approx_kl", "return/train|return/eval"), ("ppo", "actor-critic")),
    Row(
        "POL06",
        "clipping-most-updates",
        "policy",
        ("clip_fraction", "approx_kl", "clip_range|config:clip_range"),
        ("ppo",),
    ),
    Row("POL07", "clipping-never", "policy", ("clip_fraction", "return/train|return/eval"), ("ppo",)),
    Row(
        "POL08",
        "action-std-collapses",
        "policy",
        ("action_std/mean|action_std/min", "return/train|return/eval"),
        ("ppo", "actor-critic"),
    ),
    Row("POL09", "action-std-grows", "policy", ("action_std/mean",), ("ppo", "actor-critic")),
    Row(
        "POL10",
        "updates-cease",
        "policy",
        ("policy_loss|value_loss|approx_kl|entropy|loss|grad_norm", "return/train|return/eval"),
    ),
    Row("POL11", "clip-fraction-without-kl", "policy", ("clip_fraction", "approx_kl"), ("ppo",)),
    Row(
        "POL12",
        "kl-drifts-up",
        "policy",
        ("approx_kl", "clip_range|config:clip_range", "return/train|return/eval"),
        ("ppo",),
    ),
    Row(
        "POL13",
        "policy-died-early",
        "policy",
        ("entropy", "approx_kl|grad_norm", "return/train|return/eval"),
        ("ppo", "actor-critic"),
    ),
    Row(
        "POL14",
        "target-kl-cuts-updates",
        "policy",
        ("updates", "config:target_kl|approx_kl"),
        ("ppo",),
    ),
    Row(
        "POL15",
        "action-noise-wrong-from-start",
        "policy",
        ("action_std/mean|action_std/min|action_std/max", "return/train|return/eval"),
        ("ppo", "actor-critic"),
    ),
    Row(
        "POL16",
        "policy-never-moves",
        "policy",
        ("entropy", "value_loss", "return/train|return/eval"),
        ("ppo", "actor-critic"),
    ),
    Row(
        "POL17",
        "policy-crawls",
        "policy",
        ("approx_kl|policy_loss", "return/train|return/eval"),
        ("ppo",),
        covered_by=("POL05", "POL16"),
    ),
    Row("VAL01", "explained-variance-negative", "value", ("explained_variance",), ("ppo", "actor-critic")),
    Row("VAL02", "explained-variance-fell", "value", ("explained_variance", "value_loss"), ("ppo", "actor-critic")),
    Row("VAL03", "critic-explains-nothing", "value", ("explained_variance",), ("ppo", "actor-critic")),
    Row(
        "VAL04", "returns-too-large-for-critic", "value", ("explained_variance", "value_loss"), ("ppo", "actor-critic")
    ),
    Row(
        "VAL05",
        "value-clip-small-against-returns",
        "value",
        ("clip_range/value|config:clip_range_vf|config:clip_value_loss", "explained_variance", "value_loss"),
        ("ppo",),
    ),
    Row("VAL06", "advantages-extreme", "value", ("advantage/abs_max", "advantage/std"), ("ppo", "actor-critic")),
    Row("VAL07", "value-loss-grows", "value", ("value_loss", "return/train|return/eval"), ("ppo", "actor-critic")),
    Row("VAL08", "value-offset", "value", ("value/mean", "value/target|episode_length"), ("ppo", "actor-critic")),
    Row(
        "VAL09",
        "constant-returns-hide-critic",
        "value",
        ("explained_variance", "value_loss|return/train|return/eval"),
        ("ppo", "actor-critic"),
    ),
    Row(
        "VAL10", "value-loss-not-falling", "value", ("value_loss", "return/train|return/eval"), ("ppo", "actor-critic")
    ),
    Row("VAL11", "returns-tiny-for-critic", "value", ("explained_variance", "value_loss"), ("ppo", "actor-critic")),
    Row("VAL12", "value-is-constant", "value", ("explained_variance",), ("ppo", "actor-critic")),
    Row("OFF01", "q-runs-away", "off_policy", ("q/mean|q1/mean|policy_loss",), ("q-learning", "continuous-q")),
    Row("OFF02", "twin-critics-part", "off_policy", ("q/spread|q2/mean",), ("continuous-q",)),
    Row(
        "OFF03",
        "temperature-vanishes",
        "off_policy",
        ("alpha", "return/train|return/eval"),
        ("q-learning", "continuous-q"),
    ),
    Row(
        "OFF04",
        "temperature-explodes",
        "off_policy",
        ("alpha", "return/train|return/eval"),
        ("q-learning", "continuous-q"),
    ),
    Row("OFF05", "td-error-grows", "off_policy", ("value_loss|td_error",), ("q-learning", "continuous-q")),
    Row(
        "OFF06",
        "no-update-ever-ran",
        "off_policy",
        ("return/train|return/eval", "fps|epsilon|time/elapsed|updates"),
        ("q-learning", "continuous-q"),
    ),
    Row(
        "OFF07",
        "learning-starts-late",
        "off_policy",
        ("config:learning_starts|updates|value_loss",),
        ("q-learning", "continuous-q"),
    ),
    Row(
        "OFF08",
        "buffer-small-for-run",
        "off_policy",
        ("config:buffer_size", "episode_length"),
        ("q-learning", "continuous-q"),
    ),
    Row(
        "OFF09",
        "exploration-ends-at-once",
        "off_policy",
        ("epsilon|config:exploration_fraction|config:exploration_steps", "return/train|return/eval"),
        ("q-learning",),
    ),
    Row("OFF10", "exploration-never-falls", "off_policy", ("epsilon",), ("q-learning",)),
    Row(
        "OFF11",
        "q-above-achievable",
        "off_policy",
        ("q/mean|q1/mean|policy_loss", "config:gamma", "return/train|return/eval"),
        ("q-learning", "continuous-q"),
    ),
    Row("OFF12", "best-long-ago-offline", "off_policy", ("return/eval",), ("q-learning", "continuous-q")),
    Row(
        "OFF13",
        "target-moves-strangely",
        "off_policy",
        ("config:tau|config:target_update_interval",),
        ("q-learning", "continuous-q"),
    ),
    Row(
        "OFF14",
        "updates-per-step-extreme",
        "off_policy",
        ("updates|config:gradient_steps|config:update_to_data",),
        ("q-learning", "continuous-q"),
    ),
    Row(
        "OFF15",
        "replay-data-old",
        "off_policy",
        ("policy_lag|config:buffer_size", "return/train|return/eval"),
    ),
    Row(
        "OFF16",
        "entropy-outweighs-reward",
        "off_policy",
        ("q/mean|q1/mean|policy_loss", "return/train|return/eval"),
        ("continuous-q",),
    ),
    Row(
        "OPT01",
        "gradient-norm-explodes",
        "optimisation",
        ("grad_norm|grad_norm/*",),
    ),
    Row(
        "OPT02",
        "gradient-norm-vanishes",
        "optimisation",
        (
            "grad_norm|grad_norm/*",
            "return/train|return/eval",
        ),
    ),
    Row("OPT03", "clipped-at-every-step", "optimisation", ("grad_norm", "config:max_grad_norm")),
    Row("OPT04", "learning-rate-reaches-zero", "optimisation", ("learning_rate",)),
    Row(
        "OPT05",
        "not-a-number",
        "optimisation",
        ("policy_loss|value_loss|loss|grad_norm|approx_kl|entropy|q/mean|return/train|return/eval",),
    ),
    Row("OPT06", "logged-rate-differs", "optimisation", ("learning_rate", "config:learning_rate")),
    Row("OPT07", "loss-diverges", "optimisation", ("policy_loss|loss",), ("ppo", "actor-critic", "language-model")),
    Row(
        "OPT08",
        "part-gets-no-gradient",
        "optimisation",
        ("grad_norm/*",),
    ),
    Row("OPT09", "dead-units-grow", "optimisation", ("dead_units",)),
    Row(
        "OPT10",
        "gradient-large-for-its-error",
        "optimisation",
        ("grad_norm/critic|grad_norm", "value_loss"),
        ("ppo", "actor-critic"),
    ),
    Row(
        "OPT11",
        "updates-spike",
        "optimisation",
        ("grad_norm|grad_norm/*|value_loss|approx_kl", "return/train|return/eval"),
        covered_by=("ENV09",),
    ),
    Row(
        "OPT12",
        "nothing-moves",
        "optimisation",
        ("entropy", "value_loss", "explained_variance", "grad_norm|grad_norm/actor|grad_norm/critic"),
        ("ppo", "actor-critic"),
    ),
    Row(
        "MMR01",
        "mmd-outweighs-objective",
        "mmrkhs",
        ("mmd", "policy_loss", "return/train|return/eval"),
        ("actor-critic",),
    ),
    Row("MMR02", "policy-pinned", "mmrkhs", ("approx_kl", "return/train|return/eval"), ("actor-critic",)),
    Row("MMR03", "kl-large-from-start", "mmrkhs", ("approx_kl", "policy_loss"), ("actor-critic",)),
    Row("RNF01", "returns-noisy-without-baseline", "reinforce", ("return/train|return/eval",), ("actor-critic",)),
    Row("RNF02", "no-baseline-configured", "reinforce", (), ("actor-critic",)),
    Row(
        "DAT01",
        "rollout-shorter-than-episode",
        "data",
        ("config:n_steps", "config:gamma", "return/train|return/eval"),
        ("ppo", "actor-critic"),
    ),
    Row(
        "DAT02",
        "batch-does-not-divide-rollout",
        "data",
        ("config:batch_size", "config:n_steps|config:rollout_size"),
        ("ppo", "actor-critic"),
    ),
    Row(
        "DAT03",
        "few-updates-in-budget",
        "data",
        ("config:n_steps|config:rollout_size|config:train_freq|config:update_to_data|updates",),
    ),
    Row(
        "DAT04",
        "many-passes-over-data",
        "data",
        ("config:n_epochs", "approx_kl|clip_fraction", "return/train|return/eval"),
        ("ppo", "actor-critic"),
    ),
    Row("DAT05", "batch-tiny", "data", ("config:batch_size|config:rollout_size|config:n_steps",)),
    Row("DAT06", "updates-fewer-than-expected", "data", ("updates|policy_loss|value_loss|loss",)),
    Row("DAT07", "horizon-short-for-task", "data", ("config:gamma",)),
    Row("ENV01", "episodes-hit-the-limit", "environment", ("episode_length", "return/train|return/eval")),
    Row("ENV02", "very-short-episodes", "environment", ("episode_length", "return/train|return/eval")),
    Row(
        "ENV03",
        "no-episode-ends",
        "environment",
        ("policy_loss|value_loss|loss|entropy|q/mean|explained_variance",),
        covered_by=("EVA03",),
    ),
    Row("ENV04", "reward-always-zero", "environment", ("return/train|return/eval",)),
    Row("ENV05", "reward-rarely-seen", "environment", ("return/train",)),
    Row(
        "ENV06",
        "return-scale-huge",
        "environment",
        ("return/train|return/eval", "episode_length", "explained_variance"),
        ("ppo", "actor-critic"),
        ("VAL04",),
    ),
    Row("ENV07", "return-is-length", "environment", ("return/train", "episode_length")),
    Row("ENV08", "shorter-episodes-pay", "environment", ("episode_length", "return/train|return/eval")),
    Row("ENV09", "difficulty-raised", "environment", ("return/train|return/eval",)),
    Row("ENV10", "component-dominates", "environment", ("reward/*",)),
    Row("ENV11", "returns-in-two-modes", "environment", ("return/train",)),
    Row("ENV12", "observation-statistics-drift", "environment", ("observation/std", "return/train|return/eval")),
    Row("EVA01", "train-and-eval-part", "evaluation", ("return/train", "return/eval")),
    Row("EVA02", "evaluation-of-old-policy", "evaluation", ("return/eval",)),
    Row("EVA03", "return-not-there", "evaluation"),
    Row("EVA04", "few-evaluations", "evaluation", ("return/train", "return/eval")),
    Row("EVA05", "evaluation-noise-hides-trend", "evaluation", ("return/train", "return/eval")),
    Row("EVA06", "other-seeds-did-better", "evaluation", ("return/train|return/eval",)),
    Row("EVA07", "evaluations-fell", "evaluation", ("return/train", "return/eval")),
    Row(
        "EVA08",
        "return-is-per-step",
        "evaluation",
        ("return/train", "reward/step|return/eval", "episode_length|episode_length/eval"),
    ),
    Row("EVA09", "evaluations-never-move", "evaluation", ("return/train", "return/eval")),
    Row("PRC01", "process-died", "process"),
    Row("PRC02", "memory-ran-out", "process"),
    Row("PRC03", "stopped-before-budget", "process"),
    Row("PRC04", "speed-falls", "process", ("fps|time/elapsed|return/train|return/eval",)),
    Row("PRC05", "nothing-saved", "process"),
    Row("PRC06", "warnings-in-log", "process"),
    Row("PRC07", "gaps-in-the-log", "process"),
    Row("CFG01", "far-from-reference", "config", ("config:learning_rate|config:gamma|config:batch_size",)),
    Row(
        "CFG02",
        "invalid-combination",
        "config",
        ("config:learning_rate|config:gamma|config:batch_size|config:n_steps",),
    ),
    Row("CFG03", "unknown-key", "config"),
    Row("CFG04", "text-for-number", "config", ("config:learning_rate|config:gamma|config:batch_size|config:n_steps",)),
    Row("CFG05", "images-without-cnn", "config", ("config:observation_shape|config:frame_stack|config:policy_class",)),
    Row("CFG06", "rate-zero", "config", ("learning_rate|config:learning_rate|config:n_epochs|config:gradient_steps",)),
    Row("CFG07", "value-differs-from-file", "config"),
    Row(
        "IMP01",
        "ratio-off-before-any-step",
        "implementation",
        ("approx_kl|clip_fraction", "learning_rate|config:learning_rate|config:n_epochs"),
        ("ppo",),
    ),
    Row(
        "IMP02",
        "ratio-never-moves",
        "implementation",
        ("approx_kl", "config:n_epochs|return/train"),
        ("ppo",),
        covered_by=("OPT12",),
    ),
    Row("IMP03", "entropy-out-of-range", "implementation", ("entropy", "config:n_actions"), ("ppo", "actor-critic")),
    Row(
        "IMP04",
        "q-ignores-episode-ends",
        "implementation",
        ("q/mean|q1/mean|policy_loss|value/mean", "config:gamma", "return/train", "episode_length"),
    ),
    Row(
        "IMP05",
        "critic-worsens-on-steady-returns",
        "implementation",
        ("explained_variance", "value_loss", "return/train|return/eval"),
        ("ppo", "actor-critic"),
    ),
    Row(
        "IMP06",
        "sinks-below-random",
        "implementation",
        ("return/train|return/eval",),
        # Q-learning acts less and less at random, which alone lowers the return of an untrained policy.
        ("ppo", "actor-critic", "continuous-q"),
    ),
    Row("IMP07", "loss-exactly-zero", "implementation", ("value_loss", "return/train|return/eval")),
    Row(
        "IMP08",
        "policy-loss-beyond-bound",
        "implementation",
        ("policy_loss", "return/train|return/eval"),
        ("ppo",),
    ),
    Row(
        "LMR01",
        "score-falls-while-reward-rises",
        "language_model",
        ("return/train", "reward/shaped"),
        ("language-model", "ppo"),
    ),
    Row("LMR02", "responses-cut", "language_model", ("truncated_fraction",), ("language-model", "ppo")),
    Row(
        "LMR03",
        "groups-without-variance",
        "language_model",
        ("zero_variance_groups|reward/std|advantage/abs_max|config:group_size",),
        ("language-model",),
    ),
    Row("LMR04", "reference-differs-at-start", "language_model", ("kl_ref",), ("language-model", "ppo")),
    Row("LMR05", "reference-kl-explodes", "language_model", ("kl_ref", "return/train"), ("language-model", "ppo")),
    Row("LMR06", "length-runs-away", "language_model", ("response_length", "return/train"), ("language-model", "ppo")),
    Row(
        "LMR07", "entropy-and-length-explode", "language_model", ("entropy", "return/train"), ("language-model", "ppo")
    ),
    Row(
        "LMR08", "entropy-gone-score-stalled", "language_model", ("entropy", "return/train"), ("language-model", "ppo")
    ),
    Row("LMR09", "sampler-and-trainer-disagree", "language_model", (), ("language-model", "ppo")),
    Row(
        "LMR10",
        "train-up-validation-flat",
        "language_model",
        ("return/train", "return/eval"),
        ("language-model", "ppo"),
    ),
    Row("LMR11", "only-supervised", "language_model", ("loss/supervised",)),
    Row("LMR12", "valid-actions-rare", "language_model", ("valid_actions|finish_rate",), ("language-model", "ppo")),
)


def check_names(names: Iterable[str]) -> None:
    """Refuse names that are neither a rule's code or name nor a family."""
    known = {word for row in ROWS for word in (row.code.lower(), row.name, row.family)}
    for name in names:
        if name.lower() not in known:
            raise UsageError(f"no rule or family is called {name!r}", hint="`rlclinic explain` lists them")


def examine(facts: RunFacts, rows: tuple[Row, ...] = ROWS) -> tuple[tuple[Finding, ...], tuple[NotChecked, ...]]:
    """Run every rule that applies; what lacks its inputs, or fails, is said and never passed over."""
    findings: list[Finding] = []
    skipped: list[NotChecked] = []
    for row in rows:
        if not row.applies(facts):
            continue
        missing = tuple(need for need in row.needs if not _has(facts, need))
        if missing:
            skipped.append(NotChecked(row.code, row.title, missing))
            continue
        try:
            with contained(facts.run.path):
                result: RuleResult | None = row.module.check(facts)
        except RlclinicError as error:
            skipped.append(NotChecked(row.code, row.title, (), error.message))
            continue
        if result is not None:
            findings.append(_finding(row, result))
    seen = {finding.code for finding in findings}
    covered = {row.code for row in rows if seen & set(row.covered_by)}
    findings = [replace(item, severity=Severity.INFO) if item.code in covered else item for item in findings]
    findings.sort(key=lambda item: (-item.severity.rank, -item.confidence))
    return tuple(findings), tuple(skipped)


def _has(facts: RunFacts, need: str) -> bool:
    for name in need.split("|"):
        kind, _, rest = name.partition(":")
        if kind == "config" and facts.run.config.get(rest) is not None:
            return True
        if kind != "config" and any(facts.series(member) is not None for member in _members(facts, name)):
            return True
    return False


def _members(facts: RunFacts, name: str) -> Iterable[str]:
    """The metrics that a need stands for."""
    if not name.endswith("/*"):
        return (name,)
    return (member for member in facts.run.series if member.startswith(name.removesuffix("*")))


def _finding(row: Row, result: RuleResult) -> Finding:
    return Finding(
        row.code,
        row.title,
        row.family,
        result.severity,
        result.confidence,
        result.summary,
        result.evidence,
        result.onset_step,
        row.name,
    )

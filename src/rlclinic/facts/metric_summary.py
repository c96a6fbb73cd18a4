"""One metric in a few numbers: its range, its trend, what moves with it; and the hyperparameters in force."""

from __future__ import annotations

import numpy as np

from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run
from rlclinic.model.series import FloatArray, Series
from rlclinic.model.vocabulary import metric as entry_of
from rlclinic.reference.metric_lookup import lookup

# A rank test below this says that the trend is no accident.
SURE = 0.05
# Share of the series at either end whose mean counts as first and last: single values are mostly noise.
ENDS = 0.1
# How strong a rank correlation is called, from the strongest.
STRENGTHS = ((0.7, "strong"), (0.4, "moderate"), (0.2, "weak"))
FEWEST_PAIRS = 3
# Metrics that are hyperparameters in force, and the settings of another name that they follow.
IN_FORCE = (
    "learning_rate", "learning_rate/critic", "clip_range", "clip_range/value", "entropy_coef", "epsilon", "alpha",
    "kl_coef",
)  # fmt: skip
CONFIGURED_AS = {"entropy_coef": "ent_coef"}
# Range of the values, as a share of the largest, within which they are the same number.
CONSTANT = 1e-9


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """The finite values of a metric; None where there are none."""

    count: int
    not_finite: int
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    first: float | None = None
    middle: float | None = None
    """The mean of a tenth of the values, half-way."""
    last: float | None = None

    @property
    def is_constant(self) -> bool:
        """Whether it never moved; a metric without values did not."""
        if self.min is None or self.max is None:
            return True
        return self.max - self.min <= CONSTANT * max(1e-12, abs(self.min), abs(self.max))


@dataclass(frozen=True, slots=True)
class MetricTrend:
    """How a metric moved."""

    n_samples: int
    first_value: float | None = None
    """Mean of the first tenth."""
    last_value: float | None = None
    change: float | None = None
    change_pct: float | None = None
    """Of the first value's size."""
    slope: float | None = None
    """Per step of the run's axis (Theil-Sen)."""
    direction: str = "insufficient_data"
    """rising, falling, or for metrics of which more is better improving and declining; stable; insufficient_data."""
    p_value: float | None = None
    """Of a trend this strong by chance."""
    significance: str = "insufficient_data"


@dataclass(frozen=True, slots=True)
class MetricCorrelation:
    """How two metrics move together."""

    n_samples: int
    value: float | None = None
    """Spearman's: of ranks, so that one spike does not make it."""
    strength: str = ""
    problem: str = ""
    """Why there is none."""


@dataclass(frozen=True, slots=True)
class HyperparameterHistory:
    """A hyperparameter as it was in force over a run, beside what the config says."""

    summary: MetricSummary
    series: Series | None
    """Its values, where the run logs them."""
    configured: object

    @property
    def is_scheduled(self) -> bool:
        """Whether it changed on the way."""
        return not self.summary.is_constant


def metric_summary(series: Series) -> MetricSummary:
    """Count, range, mean and ends. Values that are not finite are counted, not averaged."""
    finite = series.values[np.isfinite(series.values)]
    missing = len(series) - int(finite.size)
    if not finite.size:
        return MetricSummary(0, missing)
    width = max(1, round(ENDS * finite.size))
    middle = finite[(finite.size - width) // 2 :][:width].mean()
    numbers = (finite.min(), finite.max(), finite.mean(), finite.std(), finite[0], middle, finite[-1])
    return MetricSummary(int(finite.size), missing, *map(float, numbers))


def end_levels(values: FloatArray) -> tuple[float, float]:
    """Where values begin and end: the means of their first and last tenth. There must be one at least."""
    width = max(1, round(ENDS * values.size))
    return float(values[:width].mean()), float(values[-width:].mean())


def end_level(series: Series) -> float | None:
    """Where a metric ends; None where it has no finite value."""
    finite = series.values[np.isfinite(series.values)]
    return end_levels(finite)[1] if finite.size else None


def metric_trend(series: Series) -> MetricTrend:
    """The trend over the whole series. A direction other than stable is given where chance is an unlikely reason."""
    from rlclinic.signals.trend import trend

    finite = np.isfinite(series.values)
    values, steps = series.values[finite], series.steps[finite]
    if values.size < 2:
        only = float(values[0]) if values.size else None
        return MetricTrend(int(values.size), only, only)
    first, last = end_levels(values)
    found = trend(series)
    sure = found.enough and found.p_value < SURE
    words = ("stable", "not_significant") if found.enough else ("insufficient_data", "insufficient_data")
    return MetricTrend(
        n_samples=int(values.size),
        first_value=first,
        last_value=last,
        change=last - first,
        change_pct=100.0 * (last - first) / abs(first) if first else None,
        slope=found.slope if found.enough else (last - first) / max(float(steps[-1] - steps[0]), 1.0),
        direction=better_or_worse(series.name, last - first, ("improving", "declining", "rising", "falling"))
        if sure
        else words[0],
        p_value=found.p_value if found.enough else None,
        significance="significant" if sure else words[1],
    )


def better_or_worse(name: str, change: float, words: tuple[str, str, str, str]) -> str:
    """The first two words for a change for the better or the worse, the others for metrics of which neither is."""
    known = entry_of(name)
    better = known.better if known else ""
    if not better:
        return words[2] if change > 0 else words[3]
    return words[0] if (change > 0) == (better == "up") else words[1]


def metric_correlation(first: Series, second: Series) -> MetricCorrelation:
    """The rank correlation at the steps that both have. Two metrics that drift correlate without any cause."""
    from scipy.stats import spearmanr

    _, here, there = np.intersect1d(first.steps, second.steps, return_indices=True)
    a, b = first.values[here], second.values[there]
    both = np.isfinite(a) & np.isfinite(b)
    count = int(both.sum())
    if count < FEWEST_PAIRS:
        return MetricCorrelation(count, problem=f"fewer than {FEWEST_PAIRS} common steps")
    if np.ptp(a[both]) == 0 or np.ptp(b[both]) == 0:
        return MetricCorrelation(count, problem="one of them is constant")
    value = float(spearmanr(a[both], b[both]).statistic)
    return MetricCorrelation(
        count, value, next((word for least, word in STRENGTHS if abs(value) > least), "negligible")
    )


def hyperparameter_history(run: Run, name: str) -> HyperparameterHistory:
    """A hyperparameter over the run, by its canonical name or the config's own; UsageError where nothing tells it."""
    series = lookup(run, name) or lookup(run, f"train/hp/{name}")
    key = next((key for key, setting in run.config.settings.items() if setting.native_key == name), name)
    if series is None:
        series = run.series.get(key)
    if series is not None and key not in run.config:
        key = series.name
    if series is None and key not in run.config:
        raise UsageError(f"the run neither logs nor configures {name!r}", hint="get_run_info has its config")
    summary = metric_summary(series) if series is not None else MetricSummary(0, 0)
    return HyperparameterHistory(summary, series, run.config.get(CONFIGURED_AS.get(key, key)))

"""A draft becomes a frozen Run: identity, config, series, status, in this order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from rlclinic.model.config import Config
from rlclinic.model.numbers import moment, number
from rlclinic.model.run import RETURN_METRICS, Provenance, Run
from rlclinic.model.series import Series, StepAxis
from rlclinic.model.vocabulary import position
from rlclinic.readers.axes import env_step_factor
from rlclinic.readers.configs.disproved import without_disproved
from rlclinic.readers.configs.normalise import canonical_settings, complete
from rlclinic.readers.draft import Draft
from rlclinic.readers.identify import Tables, identify_algorithm, identify_environment, identify_framework
from rlclinic.readers.naming import name_series
from rlclinic.readers.redaction.border import without_secrets
from rlclinic.readers.returns import settle_returns
from rlclinic.readers.status import status_of
from rlclinic.reference.framework import Framework

# A log so much longer than the budget, in budgets, shows that the setting means another unit.
BEYOND_BUDGET = 5.0
# Kinds of files that hold metrics, as readers record them.
METRIC_KINDS = frozenset({"tensorboard", "table", "monitor", "evaluations", "metric", "log"})
# What only the training of a language model logs.
OF_TOKENS = frozenset({"response_length", "truncated_fraction", "zero_variance_groups"})


def assemble(draft: Draft) -> Run:
    """The Run that a draft describes."""
    framework_id = draft.framework = identify_framework(draft)
    tables = Tables(framework_id)
    settings = canonical_settings(draft.settings, tables)
    configured = {name: setting.value for name, setting in settings.items()}
    algorithm = identify_algorithm(draft, tables.own, configured)
    settings = canonical_settings(draft.settings, tables, algorithm)
    config = complete(settings, draft.settings, tables.own, algorithm)
    environment = identify_environment(draft, tables.own, configured)
    series = name_series(draft, tables, config, algorithm, environment)
    if framework_id == "unknown" and not OF_TOKENS.isdisjoint(series):
        series = _of_language_model(series)
    _add_episode_returns(draft, series)
    settle_returns(series, draft, environment)
    series = dict(sorted(series.items(), key=lambda item: position(item[0])))
    config = without_disproved(config, series, draft.note)
    axis, steps = _main_axis(series, tables.own)
    if framework_id == "unknown" and axis == "env_steps" and series:
        draft.note("no framework recognised: the logged steps are taken for env steps")
    budget = _budget(draft, config, tables.own, axis)
    if budget and steps > BEYOND_BUDGET * budget:
        draft.note(f"the budget of {budget:,.0f} counts something else than the {steps:,.0f} steps of the log")
        budget = None
    first, last = _wall_times(series)
    run = Run(
        id=draft.name or draft.place.root.name or draft.place.root.resolve().name,
        path=str(draft.place.root),
        framework=framework_id,
        source=_source(draft),
        algorithm=algorithm,
        environment=environment,
        status=status_of(
            draft,
            steps,
            budget,
            last or draft.ended_at,
            _longest_pause(series),
            max(map(len, series.values()), default=0),
        ),
        step_axis=axis,
        steps=steps,
        budget=budget,
        threshold=number(draft.threshold) if draft.threshold is not None else config.number("threshold"),
        started_at=moment(draft.started_at if draft.started_at is not None else first),
        ended_at=moment(draft.ended_at if draft.ended_at is not None else last),
        config=replace(config, shadowed=tuple(draft.shadowed)),
        series=series,
        episodes=draft.episodes,
        logs=tuple(draft.logs),
        checkpoints=tuple(draft.checkpoints),
        provenance=Provenance(
            draft.reader, tuple(draft.files.values()), (*draft.place.notes, *draft.notes), tuple(draft.cut)
        ),
        observed=draft.observed,
        location=draft.place.root,
        secrets=frozenset(draft.secrets),
    )
    return without_secrets(run, draft.secrets)


def _of_language_model(series: Mapping[str, Series]) -> dict[str, Series]:
    """Metrics of a home-made trainer of a language model: its steps are updates, its plain `kl` is to a reference."""
    found = {name: replace(one, axis="updates") if one.axis == "env_steps" else one for name, one in series.items()}
    kl = found.get("approx_kl")
    if kl is not None and kl.logged_as.lower() == "kl" and "kl_ref" not in found:
        found["kl_ref"] = replace(found.pop("approx_kl"), name="kl_ref")
    return found


def _source(draft: Draft) -> str:
    """The tracker; a run whose metrics stand in event files alone is TensorBoard's."""
    kinds = {file.kind for file in draft.files.values()} & METRIC_KINDS
    return "tensorboard" if draft.source == "files" and kinds == {"tensorboard"} else draft.source


def _add_episode_returns(draft: Draft, series: dict[str, Series]) -> None:
    """Single episodes serve as the training return where no mean was logged."""
    episodes = draft.episodes
    if episodes is None or not len(episodes):
        return
    for name, values, logged_as in (
        ("return/train", episodes.returns, "r"),
        ("episode_length", episodes.lengths, "l"),
    ):
        if name not in series:
            series[name] = Series(
                name,
                logged_as,
                episodes.end_steps,
                values,
                known=True,
                window="single episodes",
                source="monitor",
            )


def _main_axis(series: dict[str, Series], tables: Framework) -> tuple[StepAxis, float]:
    """What the run's steps count, and the last of them."""
    found = [item for item in series.values() if len(item) and item.axis != "seconds"]
    if not found:
        return tables.steps.axis, 0.0  # type: ignore[return-value]
    main = next((series[name].axis for name in RETURN_METRICS if name in series and len(series[name])), None)
    axes = Counter(item.axis for item in found)
    axis = main or ("env_steps" if "env_steps" in axes else axes.most_common(1)[0][0])
    return axis, max((item.last_step or 0.0 for item in found if item.axis == axis), default=0.0)


def _budget(draft: Draft, config: Config, tables: Framework, axis: StepAxis) -> float | None:
    if draft.budget is not None:
        return number(draft.budget)
    names = {
        "env_steps": "total_steps",
        "updates": "total_updates",
        "iterations": "total_updates",
        "epochs": "total_epochs",
    }
    # Frameworks write -1 for a budget that is not set.
    direct = config.number(names.get(axis, ""))
    if direct and direct > 0:
        return direct
    updates, factor = config.number("total_updates"), env_step_factor(tables, config)
    if axis == "env_steps" and updates and updates > 0 and factor and tables.steps.times:
        return number(updates * factor)
    return None


def _longest_pause(series: dict[str, Series]) -> float | None:
    """Seconds between two rows, by the trainer's own clock."""
    clock = series.get("time/elapsed")
    return float(np.diff(clock.values).max()) if clock is not None and len(clock) > 2 else None


def _wall_times(series: dict[str, Series]) -> tuple[float | None, float | None]:
    arrays = [item.wall_times for item in series.values() if item.wall_times is not None and len(item)]
    finite = [array[np.isfinite(array)] for array in arrays]
    finite = [array for array in finite if array.size]
    if not finite:
        return None, None
    return min(float(array.min()) for array in finite), max(float(array.max()) for array in finite)

"""What to try next for an environment, from what its history shows: convergence, stability, sample efficiency."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.comparison.attempts import changes_between, native_key, untried
from rlclinic.comparison.patterns import BUDGET
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.history import Aim, PastConfig, Separation, Suggestion
from rlclinic.model.prescription import Basis, Change, PrescriptionKind
from rlclinic.model.run import Run
from rlclinic.reference.tasks import has_reference_config, reference_config
from rlclinic.reference.usual import how_unusual

# Seeds below which a config's return says little about the config (Agarwal et al. 2021 use three to ten).
FEW_SEEDS = 3
# Share of its climb that the best config may lose by its end.
SWING = 0.2
# Share of the range of the seeds' final returns, of the best one's size, that counts as wide.
WIDE = 0.3
# Share of the steps to the goal by which another config must be faster.
FASTER = 0.9
# Share of the range of all final returns by which another algorithm may end lower and still be worth a try.
ALIKE = 0.1
# Spreads of working configs by which the best value must differ from the published one.
FAR = 1.0
MOST_OF_EACH = 3
# Settings whose neighbours change how often data are used rather than how far a step goes.
OF_SAMPLES = frozenset({"n_epochs", "batch_size", "update_to_data", "tau"})


def suggestions(
    configs: Sequence[PastConfig], others: Sequence[PastConfig], found: Sequence[Separation], diagnosis: Diagnosis
) -> list[Suggestion]:
    """What to try next. `configs` are those of the best algorithm, the best first; `others` those of other algorithms;
    `diagnosis` is that of the best run."""
    run = diagnosis.run
    return [
        *_convergence(configs, found, diagnosis),
        *_stability(configs[0], run),
        *_samples(configs, others, run),
    ]


def _convergence(configs: Sequence[PastConfig], found: Sequence[Separation], diagnosis: Diagnosis) -> list[Suggestion]:
    aim, items = Aim.CONVERGENCE, []
    for item in [item for item in found if item.sure and not item.confounded and item.key != BUDGET][:MOST_OF_EACH]:
        source = f"Cliff's delta {item.effect:.2f} ({item.low:.2f} to {item.high:.2f}), p {item.p_value:.3f}"
        counts = f"{item.better_count} against {item.worse_count}"
        text = f"Keep {item.key} {item.better}: the history there ends {item.difference:.4g} higher ({counts})."
        items.append(Suggestion(aim, text, Basis.MEASURED, source))
    for remedy in [item for item in diagnosis.prescriptions if item.kind is PrescriptionKind.CONFIG][:MOST_OF_EACH]:
        basis = remedy.expected_impact.basis if remedy.expected_impact is not None else Basis.GUESS
        items.append(Suggestion(aim, remedy.instruction, basis, "the diagnosis of the best run", remedy.changes))
    return [*items, *_published(configs, diagnosis.run), *_neighbours(configs, diagnosis.run, aim)]


def _published(configs: Sequence[PastConfig], run: Run) -> list[Suggestion]:
    """Values of the published config of this environment that are far from the best one's and were not tried."""
    if not has_reference_config(run.environment, run.algorithm):
        return []
    changes = []
    for key, value in reference_config(run.environment, run.algorithm).items():
        own = configs[0].settings.get(key)
        if isinstance(own, bool) or not isinstance(own, int | float) or not isinstance(value, int | float):
            continue
        away = how_unusual(key, float(own), algorithm=run.algorithm, environment=run.environment)
        tried = any(config.settings.get(key) == value for config in configs)
        if away is not None and abs(away.spreads) > FAR and not tried:
            changes.append(Change(key, native_key(run, key), own, value))
    if not changes:
        return []
    shown = ", ".join(f"{item.native_key} {item.before} to {item.after}" for item in changes)
    text = f"The published config of this environment has other values that the history never tried: {shown}."
    return [Suggestion(Aim.CONVERGENCE, text, Basis.CITED, "RL Baselines3 Zoo", tuple(changes))]


def _neighbours(configs: Sequence[PastConfig], run: Run, aim: Aim) -> list[Suggestion]:
    published = {change.key for item in _published(configs, run) for change in item.changes}
    near = [item for item in untried(configs, run.algorithm) if item.key not in published]
    fits = [item for item in near if (item.key in OF_SAMPLES) == (aim is Aim.SAMPLES)]
    return [
        Suggestion(
            aim,
            f"Try {native_key(run, item.key)} {item.after:g} (the best config has {item.before:g}), nothing else.",
            Basis.GUESS,
            "no run of the history is near this value",
            (Change(item.key, native_key(run, item.key), item.before, item.after),),
        )
        for item in fits[:MOST_OF_EACH]
    ]


def _stability(best: PastConfig, run: Run) -> list[Suggestion]:
    aim, items = Aim.STABILITY, []
    seeds = len(best.paths)
    if seeds < FEW_SEEDS:
        text = f"Run the best config with {FEW_SEEDS - seeds} more seeds: with {seeds} its lead may be luck."
        items.append(Suggestion(aim, text, Basis.MEASURED, f"{_runs(seeds)} of it so far"))
    elif best.final_high - best.final_low > WIDE * max(abs(best.final_high), abs(best.final_low)):
        text = (
            f"The seeds of the best config end between {best.final_low:.4g} and {best.final_high:.4g}: prefer a change "
            "that raises the lowest one over a change that raises the highest."
        )
        items.append(Suggestion(aim, text, Basis.MEASURED, f"{seeds} seeds"))
    if best.swing > SWING:
        lost = f"lost {100 * best.swing:.0f}% of its climb by the end"
        schedule = run.config.get("learning_rate_schedule")
        rate = run.config.number("learning_rate")
        cure = ", and let the learning rate fall to 0 linearly" if rate and schedule in (None, "constant") else ""
        text = f"The best config {lost}: keep its best checkpoint{cure}."
        items.append(Suggestion(aim, text, Basis.GUESS, "fall from the best level to the end"))
    return items


def _samples(configs: Sequence[PastConfig], others: Sequence[PastConfig], run: Run) -> list[Suggestion]:
    aim, items, best = Aim.SAMPLES, [], configs[0]
    reached = [item for item in configs if item.steps_to_threshold is not None]
    fastest = min(reached, key=lambda item: item.steps_to_threshold or 0.0, default=None)
    slow = best.steps_to_threshold
    sooner = None if fastest is None or fastest is best else fastest.steps_to_threshold
    if fastest is not None and sooner is not None and (slow is None or sooner < FASTER * slow):
        against = "never" if slow is None else f"at {slow:,.0f}"
        text = (
            f"{fastest.label} reached the goal at step {sooner:,.0f}, the best config {against}: combine the two "
            "one setting at a time."
        )
        changes = changes_between(best, fastest, run)
        items.append(Suggestion(aim, text, Basis.MEASURED, _runs(len(fastest.paths)), changes))
    rival = max(others, key=lambda item: item.area, default=None)
    spread = max(item.final for item in (*configs, *others)) - min(item.final for item in (*configs, *others))
    if rival is not None and rival.area > best.area and rival.final > best.final - ALIKE * spread:
        text = (
            f"{rival.algorithm} has the higher mean return over the same steps: {rival.area:.4g} ({rival.label}) "
            f"against {best.area:.4g}."
        )
        items.append(Suggestion(aim, text, Basis.MEASURED, f"{_runs(len(rival.paths))} against {len(best.paths)}"))
    return items + _neighbours(configs, run, aim)


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"

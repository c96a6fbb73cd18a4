"""A run beside what is known to work: known-good runs of its task, published returns, the best run of its owner."""

from __future__ import annotations

from collections.abc import Mapping

from rlclinic.comparison.bands import metrics_in_band, return_in_band
from rlclinic.comparison.ranking import ranked_differences
from rlclinic.comparison.settings import learning_settings
from rlclinic.model.comparison import AgainstReference, BandPoint, FrameworkDifference, MetricInBand
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.run import Run
from rlclinic.reference.framework_differences import behaviours_apart
from rlclinic.reference.known_good import KnownGood, known_good
from rlclinic.reference.tasks import has_reference_config, published_scores, reference_config, task_of

SOURCES = {"zoo": "RL Baselines3 Zoo, one run", "cleanrl": "CleanRL, mean of 3 seeds"}
# Settings whose difference changes the size of rewards, and with it losses and gradients.
REWARD_SCALE = ("normalize_reward", "reward_scale", "reward_clip")


def against_reference(
    diagnosis: Diagnosis, label: str, best: Run | None = None, *, good: KnownGood | None = None
) -> AgainstReference:
    """Hold a run against what works; `best` is the best run of its owner, `good` known-good runs that are not kept."""
    run = diagnosis.run
    if not run.environment or not run.algorithm:
        missing = " and ".join(name for name in ("environment", "algorithm") if not getattr(run, name))
        return AgainstReference(
            label, "", "", notes=(f"the files do not tell the {missing}: nothing to hold it against",)
        )
    good = good or known_good(run.environment, run.algorithm)
    notes: list[str] = []
    budget = run.budget or (run.env_steps if run.step_axis == "env_steps" else None) or run.steps
    settings_of, settings = _settings(run, good, best)
    differences = ranked_differences(diagnosis, settings, budget)
    if not run.config.settings:
        notes.append("no config was read, so its settings cannot be compared: --config names the training script")
    name = ""
    curve: tuple[BandPoint, ...] = ()
    metrics: tuple[MetricInBand, ...] = ()
    if good is None:
        notes.append(f"no known-good runs of {run.algorithm} on {run.environment} are kept")
    elif budget:
        changed = {item.key for item in differences} & set(REWARD_SCALE)
        name, curve = return_in_band(run, good)
        metrics = metrics_in_band(run, budget, good, same_scale=not changed)
        if changed:
            notes.append(f"losses and gradients are not compared, because {', '.join(sorted(changed))} differs")
        if not curve:
            notes.append("its return is not over env steps or of another kind than theirs, so it has no band")
    return AgainstReference(
        label,
        _words(good) if good is not None else "",
        settings_of,
        curve,
        name,
        metrics,
        differences,
        framework_differences(run.algorithm, run.framework, good.framework) if good is not None else (),
        _published(run),
        bool(run.config.settings),
        tuple(notes),
    )


def framework_differences(algorithm: str, first: str, second: str) -> tuple[FrameworkDifference, ...]:
    """What two frameworks do differently under the same settings."""
    return tuple(
        FrameworkDifference(item.title, (first, second), item.of(first), item.of(second), item.weight, item.why)
        for item in behaviours_apart(algorithm, first, second)
    )


def _settings(run: Run, good: KnownGood | None, best: Run | None) -> tuple[str, Mapping[str, object]]:
    """Whose settings the run is held against, and the settings."""
    if good is not None:
        return "the known-good runs", good.settings
    if best is not None and best.config.settings:
        return f"{best.id}, the best of its folder", learning_settings(best)
    if has_reference_config(run.environment, run.algorithm):
        return "the reference configuration of the task", reference_config(run.environment, run.algorithm)
    return "", {}


def _words(good: KnownGood) -> str:
    seeds = f"{len(good.seeds)} seeds of {good.algorithm} on {good.environment}"
    return f"{seeds}, {good.budget:,.0f} env steps each, trained with {good.framework} ({good.made_by})"


def _published(run: Run) -> tuple[str, ...]:
    found = [
        f"{score.value:g} on {score.environment}"
        + (f" after {score.steps:,.0f} env steps" if score.steps else "")
        + f" ({SOURCES[score.source]})"
        for score in published_scores(run.environment, run.algorithm)
    ]
    task = task_of(run.environment)
    if task is not None and task.target is not None and (steps := task.steps_to_target.get(run.algorithm)):
        found.append(f"a published run reached {task.target:g} by env step {steps:,.0f}")
    return tuple(found)

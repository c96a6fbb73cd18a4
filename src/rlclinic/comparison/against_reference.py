"""A run beside what is known to work: known-good runs of its task, published returns, the best run of its owner."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rlclinic.comparison.bands import metrics_in_band, return_in_band
from rlclinic.comparison.ranking import ranked_differences, settings_alike
from rlclinic.comparison.settings import learning_settings
from rlclinic.model.comparison import AgainstReference, BandPoint, FrameworkDifference, MetricInBand
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.run import Run
from rlclinic.reference.framework_differences import behaviours_apart
from rlclinic.reference.known_good import KnownGood, known_good
from rlclinic.reference.tasks import has_reference_config, published_scores, reference_config, task_of

SOURCES = {"zoo": "RL Baselines3 Zoo, one run", "cleanrl": "CleanRL, mean of 3 seeds"}
# What must be known of a run, and the option that says it where the files do not.
OPTIONS = {"environment": "--env", "algorithm": "--algorithm"}
# Settings that the summary names.
MOST_NAMED = 3
# Settings whose difference changes the size of rewards, and with it losses and gradients.
REWARD_SCALE = ("normalize_reward", "reward_scale", "reward_clip")


def against_reference(
    diagnosis: Diagnosis, label: str, best: Run | None = None, *, good: KnownGood | None = None
) -> AgainstReference:
    """Hold a run against what works; `best` is the best run of its owner, `good` known-good runs that are not kept."""
    run = diagnosis.run
    if not run.environment or not run.algorithm:
        missing = [name for name in OPTIONS if not getattr(run, name)]
        told = f"the files do not tell the {' and '.join(missing)}"
        return AgainstReference(
            label, "", "", notes=(f"{told}: set {' and '.join(OPTIONS[name] for name in missing)}",)
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
    frameworks: tuple[FrameworkDifference, ...] = ()
    if good is not None:
        # What a ranked difference says already, and what both set alike, is no habit of a framework.
        said = settings_alike(run, settings) | {item.key for item in differences}
        frameworks = framework_differences(run.algorithm, run.framework, good.framework, said)
    seeds = len(good.seeds) if good is not None else 1 if best is not None else 0
    confounded = _confounded([item.key for item in differences], [item.title for item in frameworks])
    return AgainstReference(
        label,
        _words(good) if good is not None else "",
        settings_of,
        curve,
        name,
        metrics,
        differences,
        frameworks,
        _published(run),
        bool(run.config.settings),
        tuple(notes),
        " ".join(filter(None, (_ended(label, curve) if seeds else "", _luck(seeds), confounded))),
    )


def _ended(label: str, curve: Sequence[BandPoint]) -> str:
    """Where the run ended in the band, or where theirs did if it is the longer one."""
    if not curve:
        return f"{label} has no return that could be held against theirs."
    last = curve[-1]
    place = "below" if last.value < last.low else "above" if last.value > last.high else "in"
    had = f"{last.value:.4g} at step {last.step:,.0f}, where theirs is {last.low:.4g} to {last.high:.4g}"
    return f"{label} is {place} the band of known-good runs at the end: {had}."


def _luck(seeds: int) -> str:
    if not seeds:
        return ""
    return f"That is one seed against {'one seed' if seeds == 1 else f'{seeds} seeds'}."


def _confounded(settings: Sequence[str], frameworks: Sequence[str]) -> str:
    """One difference can be the reason; of several none can be told from the others."""
    if len(settings) + len(frameworks) < 2:
        return f"It differs in {(*settings, *frameworks)[0]} alone." if settings or frameworks else ""
    named = ", ".join(settings[:MOST_NAMED]) + (", ..." if len(settings) > MOST_NAMED else "")
    counts = [f"{len(settings)} setting{'s' * (len(settings) > 1)} ({named})"] if settings else []
    counts += [f"{len(frameworks)} habits of the frameworks"] if frameworks else []
    return f"Confounded: it differs in {' and '.join(counts)}, so none of them alone explains the distance."


def framework_differences(
    algorithm: str, first: str, second: str, said: Collection[str] = ()
) -> tuple[FrameworkDifference, ...]:
    """What two frameworks do differently, but for what the settings of both say."""
    return tuple(
        FrameworkDifference(item.title, (first, second), item.of(first), item.of(second), item.weight, item.why)
        for item in behaviours_apart(algorithm, first, second)
        if item.key not in said
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

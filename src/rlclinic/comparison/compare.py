"""Runs side by side: outcomes, what was configured differently, where the curves part, and the best run there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

from rlclinic.comparison.against_reference import against_reference, framework_differences
from rlclinic.comparison.labels import labels_of
from rlclinic.comparison.outcomes import run_outcome
from rlclinic.comparison.partings import parting
from rlclinic.comparison.pool import best_run, place_of, pool_of
from rlclinic.comparison.ranking import settings_alike
from rlclinic.comparison.seeds import over_seeds, same_config, seed_groups
from rlclinic.comparison.settings import learning_settings, setting_differences
from rlclinic.comparison.standing import standing
from rlclinic.engine import diagnose
from rlclinic.model.comparison import Comparison, FrameworkDifference, Parting, SettingDifference
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Run, Status
from rlclinic.readers.redaction.redact import redact
from rlclinic.store.index import RunIndex
from rlclinic.store.reading import read

# Pairs of curves that are held against each other; with more runs each is held against the best one only.
MOST_PAIRS = 6
# Settings that a note names.
MOST_NAMED = 5


def compare(
    runs: Sequence[Run | str | Path],
    *,
    history: str | Path | None = None,
    index: RunIndex | None = None,
    progress: Callable[[int, int], None] | None = None,
    reference: bool = False,
    change: str = "",
    most: int | None = None,
) -> Comparison:
    """Compare runs, given as such or named as for `read`.

    `history` is the folder in which the best run of the same environment is looked for: without it the runs are
    compared with each other only. A single run is compared with the best run of its environment and algorithm. With
    `reference` each run is also held against known-good runs of its task and algorithm. `change` is the setting that
    is meant to differ: whatever else differs confounds the comparison. Of the runs in `history` that were never read
    the newest `most` are.
    """
    asked = [run if isinstance(run, Run) else read(run) for run in runs]
    if not asked:
        raise UsageError("there is nothing to compare", hint="name two runs, or one run and a folder of others")
    every, notes = _with_best(asked, Path(history) if history is not None else None, index, progress, most)
    if len(every) == 1 and not reference:
        notes.append("There is no other run to compare with: name a second one, or a folder of runs with --history.")
    environments = tuple(dict.fromkeys(run.environment for run in every))
    until = min((run.returns.last_step for run in every if run.returns and run.returns.last_step), default=None)
    diagnoses, labels = [diagnose(run) for run in every], labels_of(every)
    outcomes = tuple(
        run_outcome(diagnosis, label, until=until, reference=place >= len(asked))
        for place, (diagnosis, label) in enumerate(zip(diagnoses, labels, strict=True))
    )
    groups = seed_groups(outcomes)
    differences, apart = setting_differences(every)
    comparable = len(environments) == 1
    if not comparable:
        notes.insert(0, _not_ranked(environments))
    partings = _partings(every, labels) if comparable else ()
    notes += [
        f"{outcome.label} is still running: its numbers are progress so far, not a result."
        for outcome in outcomes
        if outcome.run.status.state is Status.RUNNING
    ]
    one_seed = not groups and comparable and len(every) > 1
    if one_seed:
        notes.append("Each config has one seed here: part of any difference may be the luck of the seed.")
    confounded = _confounded(asked, differences, change)
    if confounded:
        notes.insert(0, _confounded_words(confounded, change))
    winner, summary = standing(outcomes, groups) if comparable else ("", _not_ranked(environments))
    if one_seed and winner:
        summary += " That is one seed against one seed: the noise is that within each run, not that between seeds."
    frameworks = {run.framework for run in asked} - {"unknown"}
    alike = len({run.algorithm for run in asked}) == 1
    known = zip(diagnoses[: len(asked)], labels, strict=False)
    best = every[-1] if len(every) > len(asked) else None
    references = tuple(against_reference(diagnosis, label, best) for diagnosis, label in known) if reference else ()
    if len(every) == 1 and references and references[0].summary:
        summary = references[0].summary
    return Comparison(
        outcomes,
        environments,
        groups,
        differences,
        apart,
        partings,
        confounded,
        _habits(asked, sorted(frameworks)) if alike and len(frameworks) == 2 else (),
        references,
        winner,
        summary,
        tuple(notes),
    )


def _habits(asked: Sequence[Run], frameworks: Sequence[str]) -> tuple[FrameworkDifference, ...]:
    """What the two frameworks do differently, but for what all runs set alike."""
    said = set.intersection(*(settings_alike(run, learning_settings(asked[0])) for run in asked[1:]))
    return framework_differences(asked[0].algorithm, frameworks[0], frameworks[1], said)


def _not_ranked(environments: Sequence[str]) -> str:
    named = ", ".join(name or "an unknown one" for name in environments)
    if "" in environments and len(environments) == 2:
        return f"Not all are known to be of one environment ({named}): they are not ranked."
    return f"The runs are of different environments ({named}): their returns are on different scales, so not ranked."


def _confounded(asked: Sequence[Run], differences: Sequence[SettingDifference], change: str) -> tuple[str, ...]:
    """What differs between the asked runs beside the change that is meant; nothing where one difference alone is."""
    count = len(asked)
    found = [item.key for item in differences if len({repr(value) for value in item.values[:count]} - {"None"}) > 1]
    if change and change not in found:
        return tuple(found)
    if change:
        return tuple(key for key in found if key != change)
    return tuple(found) if len(found) > 1 and count > 1 else ()


def _confounded_words(keys: Sequence[str], change: str) -> str:
    named = ", ".join(keys[:MOST_NAMED]) + (f" and {len(keys) - MOST_NAMED} more" if len(keys) > MOST_NAMED else "")
    if change:
        return f"Confounded: beside {change} the runs differ in {named}, so {change} alone explains nothing."
    return (
        f"Confounded: the runs differ in {len(keys)} settings ({named}), so none of them alone explains a difference."
    )


def _with_best(
    asked: list[Run],
    root: Path | None,
    index: RunIndex | None,
    progress: Callable[[int, int], None] | None,
    most: int | None,
) -> tuple[list[Run], list[str]]:
    """The runs with the best one of the history behind them, and what there is to say about it."""
    environments = {run.environment for run in asked}
    if root is None:
        return list(asked), []
    if len(environments) > 1:
        return list(asked), ["No best run is added, because the runs are of different environments."]
    environment = environments.pop()
    if not environment:
        models = all(run.is_language_model for run in asked)
        return list(asked), [] if models else ["No best run is added, because the environment is not known."]
    algorithm = asked[0].algorithm if len(asked) == 1 else ""
    pool = pool_of(root, environment, algorithm, index=index, progress=progress, most=most)
    what = f"{algorithm} runs on {environment}" if algorithm else f"runs on {environment}"
    best, where = best_run(pool), redact(str(root))
    rest = (
        [f"Not looked at: the {pool.unread:,} oldest of the runs below {where}; --history reads all."]
        if pool.unread
        else []
    )
    if best is None:
        return list(asked), [*rest, f"No run below {where} is one of the {what} with a return on the task's scale."]
    own = frozenset(place_of(run.location) for run in asked)
    if place_of(best.location) in own:
        note = f"{best.id} is itself the best of the {len(pool)} {what} below {where}."
        other = best_run(pool, own) if len(asked) == 1 else None
        if other is None:
            return list(asked), [*rest, note]
        return [*asked, other], [*rest, f"{note} It is shown beside the next best, {other.id}."]
    return [*asked, best], [*rest, f"{best.id} is the best of the {len(pool)} {what} below {where}."]


def _partings(runs: Sequence[Run], labels: Sequence[str]) -> tuple[Parting, ...]:
    """Between configs, by the mean curves of their seeds."""
    sides = [[runs[index] for index in members] for members in same_config(runs)]
    names = [over_seeds(labels[members[0]], len(members)) for members in same_config(runs)]
    pairs = list(combinations(range(len(sides)), 2))
    if len(pairs) > MOST_PAIRS:
        pairs = [(index, len(sides) - 1) for index in range(len(sides) - 1)]
    return tuple(parting(sides[a], sides[b], (names[a], names[b])) for a, b in pairs)

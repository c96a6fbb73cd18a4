"""What a folder of runs has taught about one environment. The MCP server and the command line both ask this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rlclinic.comparison.attempts import attempts
from rlclinic.comparison.past import PastRun, past_configs, past_runs
from rlclinic.comparison.patterns import BUDGET, Observation, separations
from rlclinic.comparison.pool import on_scale, pool_of, read_or_none
from rlclinic.comparison.settings import learning_settings
from rlclinic.comparison.suggestions import suggestions
from rlclinic.comparison.wall_time import wall_time_suggestions
from rlclinic.engine import diagnose
from rlclinic.model.errors import NothingReadable, RunReadError
from rlclinic.model.history import History, PastConfig, Separation
from rlclinic.model.run import Run, Status
from rlclinic.readers.redaction.redact import redact
from rlclinic.store.index import RunIndex

# Configs below which patterns are not looked for: with fewer the smallest p of any split is far from sure.
ENOUGH = 6
# Runs that are read; of more the newest count.
MOST_RUNS = 500
SHOWN = 5


def history(
    root: str | Path,
    environment: str,
    algorithm: str = "",
    *,
    index: RunIndex | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> History:
    """The best configs of an environment below a folder, what separates them from the others, and what to try next."""
    folder, where = Path(root), redact(str(root))
    if not folder.is_dir():
        raise RunReadError("no such folder", path=str(folder), hint="name the folder that holds your runs")
    pool = pool_of(folder, environment, algorithm, index=index, progress=progress)
    if not len(pool):
        hint = f"`rlclinic runs {folder}` lists the environments that are there"
        raise NothingReadable(f"no run of {environment} is below this folder", path=str(folder), hint=hint)
    newest = sorted(pool.pairs, key=lambda pair: -float(pair[1].get("started_at") or 0.0))[:MOST_RUNS]
    read = [run for ref, _ in newest if (run := read_or_none(ref)) is not None]
    ended = [run for run in read if run.status.state is not Status.RUNNING]
    scaled = [run for run in ended if on_scale(run)]
    past = past_runs(scaled)
    notes = _notes(len(pool), read, ended, scaled, past)
    if not past:
        return History(
            redact(str(folder)), environment, algorithm, len(read), 0, enough=False, notes=(*notes, _TOO_FEW)
        )
    every = past_configs(past)
    best_algorithm = every[0].algorithm
    configs = [item for item in every if item.algorithm == best_algorithm]
    others = [item for item in every if item.algorithm != best_algorithm]
    found, unit = _separations(configs, [item for item in past if item.run.algorithm == best_algorithm])
    diagnosis = diagnose(next(item.run for item in past if item.run.path == every[0].paths[0]))
    enough = len(configs) >= ENOUGH or bool(found)
    return History(
        where,
        environment,
        best_algorithm,
        len(past),
        len(configs),
        enough,
        tuple(every[:SHOWN]),
        found,
        attempts(configs, diagnosis.run),
        (*suggestions(configs, others, found, diagnosis), *wall_time_suggestions(configs, diagnosis.run)),
        unit,
        (*notes, *(() if enough else (_TOO_FEW,))),
    )


_TOO_FEW = f"Fewer than {ENOUGH} configs or runs of one algorithm: too few to say what separates good from bad."


def _separations(configs: Sequence[PastConfig], past: Sequence[PastRun]) -> tuple[tuple[Separation, ...], str]:
    """Over configs where there are enough of them; else over single runs, whose seeds are no independent evidence."""
    if len(configs) >= ENOUGH:
        # The budget is no setting of the learner, but runs that differ in it are seldom alike in the rest.
        return separations([Observation({**c.settings, BUDGET: c.steps}, c.final) for c in configs]), "config"
    if len(past) >= ENOUGH:
        seen = [Observation({**learning_settings(p.run), BUDGET: p.run.steps}, p.final) for p in past]
        return separations(seen), "run"
    return (), "config"


def _notes(
    total: int, read: Sequence[Run], ended: Sequence[Run], scaled: Sequence[Run], past: Sequence[PastRun]
) -> tuple[str, ...]:
    counts = (
        (total - len(read), f"not readable, or older than the newest {MOST_RUNS}"),
        (len(read) - len(ended), "still running, and progress is no result"),
        (len(ended) - len(scaled), "returns on another scale than the task's"),
        (len(scaled) - len(past), "no return, or ended long before the others"),
    )
    return tuple(f"{count} of {total} runs left out: {words}." for count, words in counts if count)

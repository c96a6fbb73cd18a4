"""Whether a judgement survives what must not matter: `python -m bench.perturb [FOLDER …]`.

Every labelled run is read once, and its `Run` is changed in ways that leave what is acceptable as it is: fewer points,
fewer metrics, no config, another unit of the reward, or its return is written down as home-made trainers do and read
again. One line per change: on how many runs it could be made, how many verdicts are acceptable before and after it, how
many went from acceptable to not, clear mistakes, accusations, and on how many failed runs the right cause leads.
The recorded runs in tests/fixtures have no labels; there a verdict must not change sides between good and bad.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.corpus import DEFAULT, Answer, answer_of, known_of, labels
from rlclinic.model.config import Config
from rlclinic.model.errors import RlclinicError
from rlclinic.model.run import PERFORMANCE_METRICS, Episodes, Run, RunStatus
from rlclinic.model.series import Series
from rlclinic.readers.discover import find
from rlclinic.readers.open import read

FIXTURES = Path("tests/fixtures/runs")
GOOD = frozenset({"solved", "learning", "plateaued"})
BAD = frozenset({"not-learning", "collapsed", "unstable", "misconfigured", "reward-hacking"})
LENGTHS = ("episode_length", "episode_length/eval")
# Points that a return must keep; fewer are another case.
FEWEST = 12
THINNED = 3
# Share of the points that are cut at an end.
CUT = 0.03
# Share of the values that are lost, and of the digits that a printed table keeps.
LOST, DIGITS = 0.1, 4
# Points of a resampled curve, rows of a table that somebody wrote, and what a smoothed curve keeps of its last level.
RESAMPLED, WRITTEN, SMOOTHED = 40, 15, 0.6
# Units in which a return may be logged, and shares of a run after which it may have been stopped.
FACTOR, STOPPED = 1000.0, (0.6, 0.3)

Change = Callable[[Run], Run | None]
Places = NDArray[np.intp]


Also = Mapping[str, frozenset[str]]
NOT_LEARNING = frozenset({"not-learning"})
# Without a goal success and a standstill look alike; without other metrics what they alone tell is gone.
GOAL_LOST: Also = {"solved": frozenset({"plateaued", "learning"}), "misconfigured": NOT_LEARNING}
METRIC_LOST: Also = {"reward-hacking": GOOD, "collapsed": frozenset({"insufficient-data"})}
SCALE_LOST: Also = {**METRIC_LOST, **GOAL_LOST}
STATUS_LOST: Also = {
    name: frozenset({"not-learning", "plateaued", "learning", "insufficient-data"})
    for name in ("crashed", "interrupted")
}
FEWER_POINTS: Also = {name: frozenset({"insufficient-data"}) for name in ("not-learning", "plateaued", "unstable")}
# What is written down alone tells neither settings nor how the process ended; of a few rows even less is sure.
RETOLD: Also = {
    **{name: STATUS_LOST[name] | {"collapsed", "unstable"} for name in STATUS_LOST},
    "solved": GOAL_LOST["solved"],
    "misconfigured": NOT_LEARNING,
    "reward-hacking": GOOD | {"collapsed", "unstable"},
    "collapsed": frozenset({"unstable", "insufficient-data", "not-learning"}),
    "unstable": frozenset({"collapsed", "insufficient-data"}),
    "not-learning": frozenset({"insufficient-data"}),
    "plateaued": frozenset({"insufficient-data", "learning"}),
}
# An earlier end is another run: only the sides may not be confused.
EARLIER: Also = {
    **RETOLD,
    "solved": GOOD | {"insufficient-data", "interrupted"},
    "learning": GOOD | {"insufficient-data", "interrupted", "not-learning"},
    "plateaued": GOOD | {"insufficient-data", "interrupted"},
    "collapsed": GOOD | BAD | {"insufficient-data", "interrupted"},
    "unstable": GOOD | BAD | {"insufficient-data", "interrupted"},
    "not-learning": frozenset({"insufficient-data", "plateaued", "interrupted", "unstable", "collapsed"}),
}


@dataclass(frozen=True, slots=True)
class Transformation:
    """A change of a run, and the verdicts that it makes acceptable where another one is."""

    name: str
    change: Change
    also: Also = field(default_factory=dict)
    """By the verdict that was acceptable."""


def _picked(series: Series, kept: Places) -> Series:
    times = series.wall_times[kept] if series.wall_times is not None else None
    return replace(series, steps=series.steps[kept], values=series.values[kept], wall_times=times)


def _with_points(run: Run, points: Callable[[int], Places]) -> Run | None:
    """The run with some points of each of its series and episodes; None where too few of its return are left."""
    series = {name: _picked(one, points(len(one))) for name, one in run.series.items()}
    single, kept = run.episodes, points(len(run.episodes) if run.episodes is not None else 0)
    if single is not None:
        single = Episodes(single.returns[kept], single.lengths[kept], single.end_steps[kept], single.seconds[kept])
    steps = max((one.steps[-1] for one in series.values() if len(one) and one.axis == run.step_axis), default=run.steps)
    changed = replace(run, series=series, episodes=single, steps=float(min(steps, run.steps)))
    returns = changed.returns
    return changed if returns is not None and np.isfinite(returns.values).sum() >= FEWEST else None


def _only(run: Run, names: Sequence[str]) -> Run:
    return replace(run, series={name: one for name, one in run.series.items() if name in names}, episodes=None)


def _without(run: Run, kind: str) -> Run | None:
    """The run without the returns of training or of evaluations; None where too little is left."""
    is_gone = {"train": lambda name: name.startswith("return/train"), "eval": lambda name: "eval" in name}[kind]
    series = {name: one for name, one in run.series.items() if not is_gone(name)}
    kept = replace(run, series=series, episodes=None if kind == "train" else run.episodes)
    returns = kept.returns
    return kept if returns is not None and len(returns) >= FEWEST else None


def _without_evaluations(run: Run) -> Run | None:
    """Where the training return decides: else it is a scrap."""
    decides = run.returns is not None and run.returns.name == "return/train" and "return/eval" in run
    return _without(run, "eval") if decides else None


def _without_config(run: Run) -> Run | None:
    return replace(run, config=Config(), budget=None, threshold=None) if run.config.settings else None


def _bare(run: Run) -> Run | None:
    """Its return and lengths of episodes alone."""
    returns = run.returns
    return _only(run, (returns.name, *LENGTHS)) if returns is not None else None


def _rescaled(run: Run, factor: float = 1.0, shift: float = 0.0) -> Run | None:
    """The return in another unit, without what would tell the old one."""
    bare, returns = _bare(run), run.returns
    if bare is None or returns is None or returns.highest is None:
        return None
    values = returns.values[np.isfinite(returns.values)]
    if shift and not np.ptp(values):
        return None
    moved = replace(returns, values=factor * returns.values + shift * float(np.ptp(values)), decimals=None)
    threshold = None if run.threshold is None else factor * run.threshold + shift * float(np.ptp(values))
    return replace(bare, series={**bare.series, returns.name: moved}, environment="", threshold=threshold)


def _renamed(run: Run) -> Run:
    """Metrics under names that nobody knows; returns and lengths keep theirs."""
    kept = (*PERFORMANCE_METRICS, *LENGTHS)
    names = {name: name if name in kept else f"own/{place}" for place, name in enumerate(run.series)}
    series = {
        new: run.series[name] if new == name else replace(run.series[name], name=new, logged_as=new, known=False)
        for name, new in names.items()
    }
    return replace(run, series=series)


def _rounded(run: Run) -> Run:
    def printed(one: Series) -> Series:
        return replace(one, values=np.array([float(f"{value:.{DIGITS}g}") for value in one.values]))

    return replace(run, series={name: printed(one) for name, one in run.series.items()})


def _with_gaps(run: Run) -> Run:
    def torn(one: Series) -> Series:
        lost = np.random.default_rng(0).random(len(one)) < LOST
        return replace(one, values=np.where(lost, np.nan, one.values))

    # NaN in a loss is a sign of its own: only returns and lengths have gaps.
    kept = (*PERFORMANCE_METRICS, *LENGTHS)
    return replace(run, series={name: torn(one) if name in kept else one for name, one in run.series.items()})


def _by_rows(run: Run) -> Run:
    """A log that counts its rows and not its steps."""
    rows = np.unique(np.concatenate([one.steps for one in run.series.values()] or [np.zeros(0)]))
    series = {
        name: replace(one, steps=np.searchsorted(rows, one.steps).astype(float), axis="rows")
        for name, one in run.series.items()
    }
    return replace(run, series=series, step_axis="rows", steps=float(max(rows.size - 1, 0)), budget=None)


def _resampled(count: int) -> Change:
    """Means of stretches, as a plot or an export has them."""

    def change(run: Run) -> Run | None:
        def means(one: Series) -> Series:
            if len(one) <= count:
                return one
            groups = np.array_split(np.arange(len(one)), count)
            ends, values = [group[-1] for group in groups], [float(one.values[group].mean()) for group in groups]
            return replace(_picked(one, np.array(ends)), values=np.array(values))

        returns = run.returns
        if returns is None or np.isfinite(returns.values).sum() <= count:
            return None
        return replace(run, series={name: means(one) for name, one in run.series.items()}, episodes=None)

    return change


def _smoothed(run: Run) -> Run | None:
    """Every return as a tracker smooths it."""

    def smooth(one: Series) -> Series:
        values = one.values.copy()
        for place in range(1, values.size):
            values[place] += SMOOTHED * (values[place - 1] - values[place])
        return replace(one, values=values)

    returns = run.returns
    if returns is None or len(returns) < FEWEST or not np.isfinite(returns.values).all():
        return None
    return replace(run, series={**run.series, returns.name: smooth(returns)})


def _stopped(share: float) -> Change:
    def change(run: Run) -> Run | None:
        ended = _with_points(run, lambda count: np.arange(math.ceil(share * count)))
        return None if ended is None else replace(ended, status=RunStatus(), logs=(), budget=None)

    return change


Row = tuple[float, float, float | None]


def _retold(name: str, text: Callable[[Sequence[Row]], str], most: int = 0) -> Change:
    """The return, and lengths where every row has one, as such a file, read again."""

    def change(run: Run) -> Run | None:
        rows = _rows(run, most)
        if len(rows) < FEWEST:
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_text(text(rows), encoding="utf-8")
            try:
                return read(path)
            except RlclinicError:
                # What cannot be read is a run without anything.
                return Run(id=name, path=folder)

    return change


def _rows(run: Run, most: int) -> list[Row]:
    returns = run.returns
    if returns is None:
        return []
    kept = np.isfinite(returns.values)
    steps, values = returns.steps[kept], returns.values[kept]
    length = run.series.get("episode_length/eval" if "eval" in returns.name else "episode_length")
    known = length.values[kept] if length is not None and len(length) == len(returns) else None
    groups = np.array_split(np.arange(values.size), min(most or values.size, values.size)) if values.size else []
    return [
        (float(steps[at[-1]]), float(values[at].mean()), None if known is None else float(known[at].mean()))
        for at in groups
    ]


def _csv(rows: Sequence[Row]) -> str:
    return "step,mean_reward\n" + "".join(f"{step:g},{value:.6g}\n" for step, value, _ in rows)


def _console(rows: Sequence[Row]) -> str:
    def line(step: float, value: float, length: float | None) -> str:
        return f"[INFO] step {step:.0f} | avg reward: {value:.3f}" + (f" | len: {length:.1f}" if length else "")

    return "".join(line(*row) + "\n" for row in rows)


def _costs(rows: Sequence[Row]) -> str:
    return "iteration,mean_episode_cost\n" + "".join(
        f"{place},{-value:.6g}\n" for place, (_, value, _) in enumerate(rows)
    )


def _as_costs(run: Run) -> Run | None:
    """Of a return that is never above zero."""
    returns = run.returns
    is_cost = returns is not None and returns.highest is not None and returns.highest <= 0.0
    return _retold("costs.csv", _costs)(run) if is_cost else None


def _json(rows: Sequence[Row]) -> str:
    return json.dumps({"scores": [value for _, value, _ in rows], "timesteps": [step for step, _, _ in rows]})


def _table(rows: Sequence[Row]) -> str:
    lines = "".join(f"| {step:,.0f} | {value:.4g} |\n" for step, value, _ in rows)
    return f"# Results\n\nTraining of the agent:\n\n| Timesteps | Mean reward |\n|---|---|\n{lines}"


def _at(points: Callable[[int], Places]) -> Change:
    return lambda run: _with_points(run, points)


def _thinned(count: int) -> Places:
    return np.arange((count - 1) % THINNED, count, THINNED)


def _doubled(count: int) -> Places:
    return np.insert(np.arange(count), count // 2, count // 2) if count else np.arange(0)


def _end_cut(count: int) -> Places:
    return np.arange(count - math.ceil(CUT * count))


TRANSFORMATIONS = (
    Transformation("as it is", lambda run: run),
    Transformation("thinned to a third", _at(_thinned), FEWER_POINTS),
    Transformation("the first points cut", _at(lambda n: np.arange(math.ceil(CUT * n), n)), FEWER_POINTS),
    Transformation("the last points cut", _at(_end_cut), FEWER_POINTS),
    Transformation("a point doubled", _at(_doubled)),
    Transformation("a tenth of the returns lost", _with_gaps),
    Transformation("four digits", _rounded),
    Transformation("rows for steps", _by_rows, GOAL_LOST),
    Transformation("return and length alone", _bare, {**METRIC_LOST, "misconfigured": NOT_LEARNING}),
    Transformation("other names", _renamed, METRIC_LOST),
    Transformation("without config", _without_config, GOAL_LOST),
    Transformation("without environment", lambda r: replace(r, environment="") if r.environment else None, GOAL_LOST),
    Transformation("without algorithm", lambda r: replace(r, algorithm="") if r.algorithm else None),
    Transformation("without status", lambda run: replace(run, status=RunStatus(), logs=()), STATUS_LOST),
    Transformation("without evaluations", _without_evaluations, GOAL_LOST),
    Transformation(
        "evaluations alone", lambda run: _without(run, "train") if "return/eval" in run else None, GOAL_LOST
    ),
    Transformation("rewards times 1000", lambda run: _rescaled(run, FACTOR), SCALE_LOST),
    Transformation("rewards by 1000", lambda run: _rescaled(run, 1.0 / FACTOR), SCALE_LOST),
    Transformation("returns shifted up", lambda run: _rescaled(run, shift=1.0), SCALE_LOST),
    Transformation("returns shifted down", lambda run: _rescaled(run, shift=-1.0), SCALE_LOST),
    Transformation(f"means of {RESAMPLED} stretches", _resampled(RESAMPLED)),
    Transformation("smoothed", _smoothed),
    *(Transformation(f"stopped after {share:.0%}", _stopped(share), EARLIER) for share in STOPPED),
    Transformation("written as csv", _retold("results.csv", _csv), RETOLD),
    Transformation("written as console lines", _retold("train.log", _console), RETOLD),
    Transformation("written as costs", _as_costs, RETOLD),
    Transformation("written as json", _retold("results.json", _json), RETOLD),
    Transformation(f"a table of {WRITTEN} rows", _retold("RESULTS.md", _table, WRITTEN), RETOLD),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.perturb", description=__doc__)
    parser.add_argument("folders", nargs="*", default=[*DEFAULT, str(FIXTURES)])
    parser.add_argument("--only", default="", help="changes whose name holds this")
    parser.add_argument("--flips", action="store_true", help="each verdict that became unacceptable")
    options = parser.parse_args()
    runs = [found for folder in options.folders for found in labelled(Path(folder))]
    first = [answer_of(run, known) for run, known in runs]
    print(
        f"{len(runs)} runs\n{'':28s} runs  acceptable before  after  flips  mistakes  accusations  failed: cause first"
    )
    for item in TRANSFORMATIONS:
        if options.only in item.name:
            print(report(item, runs, first, flips=options.flips))


def labelled(folder: Path) -> Iterator[tuple[Run, dict[str, Any]]]:
    """Runs with what is known of them; recorded runs without labels are held against the side of their own verdict."""
    if not (folder / "labels.yaml").is_file():
        yield from _unlabelled(folder)
        return
    for label in labels(folder):
        try:
            yield read(folder / label["path"]), known_of(label)
        except RlclinicError:
            continue


def _unlabelled(folder: Path) -> Iterator[tuple[Run, dict[str, Any]]]:
    for place in find(folder):
        known = known_of({"path": str(place.path), "verdict": [], "causes": [], "confidence": ""})
        try:
            run = read(place.path)
        except RlclinicError:
            continue
        own = answer_of(run, known).verdict
        side = next((side for side in (GOOD, BAD) if own in side), None)
        if side is not None:
            yield run, {**known, "verdicts": [own, *side]}


def report(
    item: Transformation, runs: Sequence[tuple[Run, dict[str, Any]]], first: Sequence[Answer], *, flips: bool = False
) -> str:
    """A line on one change, with one for each verdict that it made unacceptable."""
    pairs = []
    for (run, known), before in zip(runs, first, strict=True):
        changed = item.change(run)
        if changed is not None:
            also = [word for verdict in known["verdicts"] for word in item.also.get(verdict, ())]
            must_not = [word for word in known["must_not"] if word not in also]
            after = answer_of(changed, {**known, "verdicts": [*known["verdicts"], *also], "must_not": must_not})
            pairs.append((before, after))
    flipped = [(before, after) for before, after in pairs if before.acceptable and not after.acceptable]
    line = (
        f"{item.name:28s} {len(pairs):4d}  {sum(b.acceptable for b, _ in pairs):17d}  "
        f"{sum(a.acceptable for _, a in pairs):5d}  {len(flipped):5d}  {sum(a.mistake for _, a in pairs):8d}  "
        f"{sum(a.accused for _, a in pairs):11d}  {_causes([p for p in pairs if p[0].failed])}"
    )
    told = [f"    {after.name[-60:]:60s} {before.verdict} -> {after.verdict}" for before, after in flipped]
    return "\n".join([line, *(told if flips else [])])


def _causes(pairs: Sequence[tuple[Answer, Answer]]) -> str:
    """On how many failed runs the right cause leads before and after, `unknown`, and nothing wrong."""
    first = [sum(answer.named(1) for answer in side) for side in zip(*pairs, strict=True)] if pairs else [0, 0]
    leads = [after.leads[0] for _, after in pairs]
    return (
        f"{first[0]:3d} -> {first[1]:3d} of {len(pairs):3d}, unknown {leads.count('unknown'):3d}, "
        f"nothing-wrong {leads.count('nothing-wrong'):3d}"
    )


if __name__ == "__main__":
    main()

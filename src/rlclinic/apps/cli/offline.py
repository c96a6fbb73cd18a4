"""`rlclinic offline`: learn from recorded steps, make such data sets, and rank policies without playing them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rlclinic.apps.cli.output import say, write_json, write_lines
from rlclinic.apps.cli.reading import FILE, trust_option
from rlclinic.apps.cli.train import carry_out
from rlclinic.model.errors import UsageError


@click.command()
@click.argument("sources", nargs=-1, metavar="DATASET|RUN...")
@click.option(
    "--algo", default="filtered-bc", show_default=True, metavar="NAME",
    help="bc, filtered-bc, td3-bc, iql, cql or decision-transformer.",
)  # fmt: skip
@click.option("--env", "environment", default="", metavar="ENV", help="The environment, where the data name none.")
@click.option("--override", "-o", "overrides", multiple=True, metavar="KEY=VALUE", help="Set a value; repeatable.")
@click.option("--steps", type=int, help="Updates; with --make, steps of each data set.")
@click.option("--online", type=int, help="Updates at the end that go with steps online; short for -o online_steps=N.")
@click.option("--seed", type=int, help="Random seed; short for -o seed=N.")
@click.option("--root", type=FILE, default=Path("runs"), show_default=True, help="Where the run's folder is made.")
@click.option("--setup", is_flag=True, help="Install d3rlpy in a Python environment of its own, and end.")
@click.option("--make", "folder", type=FILE, metavar="FOLDER", help="Write data sets of a trained RUN into a folder.")
@click.option("--kinds", default="random,expert,mixed", show_default=True, help="Of --make; also medium and replay.")
@click.option("--medium", type=FILE, metavar="RUN", help="Of --make: a run that stopped half-way.")
@click.option(
    "--rank", is_flag=True, help="Rank finished offline RUNs by fitted Q evaluation, and say how far to trust it."
)
@trust_option
@click.option("--background", is_flag=True, help="Train in a process of its own; it goes on when this one ends.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def offline(
    sources: tuple[str, ...],
    algo: str,
    environment: str,
    overrides: tuple[str, ...],
    steps: int | None,
    online: int | None,
    seed: int | None,
    root: Path,
    setup: bool,
    folder: Path | None,
    kinds: str,
    medium: Path | None,
    rank: bool,
    trust: tuple[str, ...],
    background: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Learn a policy from the steps in DATASET: npz, HDF5, Minari, CSV or parquet.

    bc and filtered-bc (the best tenth of the episodes) are trained here; the others by d3rlpy, which --setup installs
    in a Python environment of its own. The policy is evaluated in the environment: 80% of the way from a random policy
    to the better half of the data is the goal, unless -o threshold=R sets another. The folder is that of `rlclinic
    train`, which resumes it. Exit codes: 0 done, 2 an error, 130 interrupted.
    """
    if setup:
        from rlclinic.lab.offline.venv import set_up

        python = set_up(say)
        write_json({"schema": "rlclinic.offline/1", "python": str(python)}) if as_json else say(f"{python} has d3rlpy")
        return
    if not sources or (len(sources) > 1 and not rank):
        raise UsageError("name one data set", hint="rlclinic offline DATASET; --rank takes several runs")
    if folder is not None:
        _make(Path(sources[0]), folder, kinds, medium, steps, seed, trust, as_json=as_json)
        return
    if rank:
        _rank([Path(source) for source in sources], steps, trust, as_json=as_json)
        return
    from rlclinic.lab.offline.asking import offline_recipe
    from rlclinic.lab.train import prepare

    short = {"total_steps": steps, "online_steps": online, "seed": seed}
    changes = (*overrides, *(f"{key}={value}" for key, value in short.items() if value is not None))
    recipe = offline_recipe(sources[0], algo, environment, changes, trust)
    if not quiet and recipe.threshold is not None:
        say(f"the goal is {recipe.threshold:.4g}")
    made = prepare(recipe, root)
    carry_out(made, recipe.trust, resume=False, background=background, quiet=quiet, as_json=as_json)


def _make(
    run: Path, folder: Path, kinds: str, medium: Path | None, steps: int | None, seed: int | None, trust: Any,
    *, as_json: bool,
) -> None:  # fmt: skip
    from rlclinic.lab.offline.datasets import STEPS, make_datasets

    wanted = [kind.strip() for kind in kinds.split(",")]
    made = make_datasets(run, folder, medium=medium, kinds=wanted, steps=steps or STEPS, seed=seed or 0, trust=trust)
    if as_json:
        rows = [{"kind": one.kind, "path": str(one.path), "episodes": one.episodes, "steps": one.steps,
                 "mean_return": one.mean_return} for one in made]  # fmt: skip
        write_json({"schema": "rlclinic.offline/1", "datasets": rows})
        return
    write_lines(
        [f"{one.path}: {one.episodes} episodes, {one.steps} steps, mean return {one.mean_return:.4g}" for one in made]
    )


def _rank(runs: list[Path], steps: int | None, trust: Any, *, as_json: bool) -> None:
    from rlclinic.lab.offline.ranking import LIMITS, rank_runs

    found = rank_runs(runs, steps, trust)
    if as_json:
        write_json(found.to_json())
        return
    write_lines([*found.lines(), *(f"  {line}" for line in LIMITS)])

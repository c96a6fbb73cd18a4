"""`rlclinic imitate`: learn from an expert, by cloning or by DAgger and its variants."""

from __future__ import annotations

from pathlib import Path

import click

from rlclinic.apps.cli.output import say
from rlclinic.apps.cli.reading import FILE, trust_option
from rlclinic.apps.cli.train import carry_out


@click.command()
@click.argument("environment", metavar="ENV")
@click.option(
    "--expert", required=True, metavar="RUN|ZIP|MODULE:FN|FILE",
    help="A run of rlclinic train, an SB3 checkpoint, a function of one observation, or a file of demonstrations.",
)  # fmt: skip
@click.option(
    "--algo", default="dagger", show_default=True, metavar="NAME",
    help="bc, dagger, safe-dagger, ensemble-dagger, lazy-dagger or gated-dagger.",
)  # fmt: skip
@click.option("--override", "-o", "overrides", multiple=True, metavar="KEY=VALUE", help="Set a value; repeatable.")
@click.option("--steps", type=int, help="Budget in env steps; short for -o total_steps=N.")
@click.option("--queries", type=int, help="Most labels that the expert gives; short for -o query_budget=N.")
@click.option("--seed", type=int, help="Random seed; short for -o seed=N.")
@click.option("--root", type=FILE, default=Path("runs"), show_default=True, help="Where the run's folder is made.")
@trust_option
@click.option("--background", is_flag=True, help="Train in a process of its own; it goes on when this one ends.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def imitate(
    environment: str,
    expert: str,
    algo: str,
    overrides: tuple[str, ...],
    steps: int | None,
    queries: int | None,
    seed: int | None,
    root: Path,
    trust: tuple[str, ...],
    background: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Imitate an expert in ENV, a Gymnasium id or module:Class.

    A round lets expert and learner act, asks for labels where the variant says so, and fits the policy to all labels so
    far. The expert is played first: 90% of the way from a random policy to its return is the goal, unless
    -o threshold=R sets another. A file of demonstrations cannot be asked, so it goes with --algo bc. The folder is that
    of `rlclinic train`, which resumes it: rlclinic train --resume RUN. Exit codes: 0 trained, 2 an error, 130
    interrupted.
    """
    from rlclinic.lab.imitation.asking import imitation_recipe
    from rlclinic.lab.train import prepare

    short = {"total_steps": steps, "query_budget": queries, "seed": seed}
    changes = (*overrides, *(f"{key}={value}" for key, value in short.items() if value is not None))
    recipe = imitation_recipe(environment, expert, algo, changes, trust)
    if not quiet:
        say(f"the expert's mean return is {recipe.number('expert_return'):.4g}, the goal {recipe.threshold:.4g}")
    folder = prepare(recipe, root)
    carry_out(folder, recipe.trust, resume=False, background=background, quiet=quiet, as_json=as_json)

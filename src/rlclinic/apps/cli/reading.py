"""What every verb that takes runs shares: options that name them, and reading them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.model.run import Run

FILE = click.Path(path_type=Path)
goal_option = click.option(
    "--goal", type=float, metavar="RETURN", help="The return that you are after, in the units of the run."
)

trust_option = click.option(
    "--trust",
    multiple=True,
    metavar="MODULE:CLASS",
    help="An environment or wrapper that a config or run names and that may be imported; repeatable.",
)

_ENV = click.option("--env", "environment", default="", metavar="ID", help="The environment, where no file tells it.")
_ALGO = click.option("--algo", "algorithm", default="", metavar="NAME", help="The algorithm, where no file tells it.")


def task_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --env and --algo; the command gets them as `environment` and `algorithm`."""
    return _ENV(_ALGO(command))


_OPTIONS = (
    click.argument("names", nargs=-1, metavar="RUN..."),
    click.option("--metrics", multiple=True, type=FILE, help="A file of metrics; repeatable."),
    click.option("--log", multiple=True, type=FILE, help="A console log; repeatable."),
    click.option("--config", multiple=True, type=FILE, help="A config file or training script; repeatable."),
    click.option("--map", "mapping", multiple=True, metavar="METRIC=COLUMN", help="What a column means; repeatable."),
    click.option("--root", type=FILE, help="Where ids and @last are looked up; runs/ or here by default."),
)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name runs; the command gets them as one dict `source`."""

    def with_source(**options: Any) -> Any:
        keys = ("names", "metrics", "log", "config", "mapping", "root")
        source = {key: options.pop(key) for key in keys}
        return command(source=source, **options)

    with_source.__name__ = command.__name__
    with_source.__doc__ = command.__doc__
    with_source.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    decorated: Callable[..., Any] = with_source
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def read_runs(
    source: dict[str, Any], environment: str = "", algorithm: str = ""
) -> tuple[list[Run], list[RlclinicError]]:
    """Every run that the options name, and what could not be read."""
    from rlclinic.readers.open import read, read_files
    from rlclinic.store.names import resolve

    names: tuple[str, ...] = source["names"]
    columns = parse_map(source["mapping"])
    task = {"environment": environment, "algorithm": algorithm}
    metrics, logs, configs = source["metrics"], source["log"], source["config"]
    if metrics or logs or (configs and not names):
        if names:
            raise UsageError("name either a run or its files, not both", hint="--config alone goes with a run")
        return [read_files(metrics=metrics, logs=logs, configs=configs, columns=columns, **task)], []
    found: list[Run] = []
    errors: list[RlclinicError] = []
    for name in names or ("@last",):
        try:
            paths = resolve(name, root=source["root"])
        except RlclinicError as error:
            errors.append(error)
            continue
        for path in paths:
            try:
                found.append(read(path, columns=columns, configs=configs, **task))
            except RlclinicError as error:
                errors.append(error)
    return found, errors


def parse_map(pairs: tuple[str, ...]) -> dict[str, str]:
    """`metric=column` pairs as a mapping."""
    columns: dict[str, str] = {}
    for pair in pairs:
        metric, separator, column = pair.partition("=")
        if not separator or not metric or not column:
            raise UsageError(f"--map {pair!r} is not METRIC=COLUMN", hint="for example --map return/train=my_reward")
        columns[metric.strip()] = column.strip()
    return columns

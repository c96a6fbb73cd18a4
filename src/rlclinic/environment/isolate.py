"""Examine an environment in a child process: what crashes or hangs there is a finding, not the end of rlclinic."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rlclinic.environment.make import Make, load, maker_of, rebuilt
from rlclinic.environment.measure import Wanted, measure
from rlclinic.model.environment_facts import EnvironmentFacts, Problem, facts_of_json
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.store.children import settled, spawning

BUDGET = 40.0
"""Seconds that an examination may take by default."""
BUSY = max(3.0, 2.0 * os.getloadavg()[0] / (os.cpu_count() or 1)) if hasattr(os, "getloadavg") else 3.0
"""Times the budget that a machine may need for it: other processes may have the processor."""
PATIENCE = 60.0
"""Seconds beyond the budget that a part of the examination may be silent before the environment hangs."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to examine. Names only, so that nothing but text goes to the child."""

    environment: str
    arguments: dict[str, object] = field(default_factory=dict)
    seconds: float = BUDGET
    oracle: str = ""
    policy: str = ""
    components: dict[str, str] = field(default_factory=dict)
    trust: tuple[str, ...] = ()
    """What a config or run that is named may import."""
    around: dict[str, object] = field(default_factory=dict)
    """What the config of a run puts around it (see `make.around_of`)."""


def examine_isolated(request: Request, progress: Callable[[str], None] = lambda _: None) -> EnvironmentFacts:
    """The facts of an environment; UsageError where the request cannot be met."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, request), daemon=False)
    with spawning(), _one_thread():
        process.start()
    theirs.close()
    facts, doing = EnvironmentFacts("examined", request.environment), "start"
    # No part of an examination has more than half of the budget.
    silence = PATIENCE + 0.5 * BUSY * request.seconds
    try:
        while True:
            if not ours.poll(silence):
                problem = Problem("hung", doing, f"no answer within {silence:.0f} s")
                return replace(facts, problems=(*facts.problems, problem))
            try:
                kind, value = ours.recv()
            except (EOFError, OSError):
                process.join(5)
                problem = Problem("died", doing, f"the process ended with exit code {process.exitcode}")
                return replace(facts, problems=(*facts.problems, problem))
            if kind == "error":
                raise UsageError(value[0], path=value[1], hint=value[2])
            if kind == "done":
                return facts_of_json(value)
            doing, facts = value[0], facts_of_json(value[1])
            progress(doing)
    finally:
        ours.close()
        _ended(process)


def _serve(pipe: Connection, request: Request) -> None:
    settled()
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    # What an environment prints must not come between the lines of a report.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # A copied connection closes the original when it goes.
    Connection.__deepcopy__ = _refuse  # type: ignore[attr-defined]
    try:
        left: tuple[str, ...] = ()
        around = None
        if request.around:
            around, left = rebuilt(request.around, request.environment, request.trust)
            request = replace(request, arguments={**around.env_kwargs, **request.arguments})
        make = maker_of(request.environment, request.arguments, request.trust, around)
        named = (("oracle", request.oracle), ("trained", request.policy))
        policies = [(name, policy_named(text, request.trust, make)) for name, text in named if text]
        # Pictures want an environment of their own: drawing slows every step.
        drawn = {**request.arguments, "render_mode": "rgb_array"}
        rendering = maker_of(request.environment, drawn, request.trust, around) if request.policy else None
        wanted = Wanted(request.seconds, tuple(policies), request.components, rendering, left)
        found = measure(
            make, request.environment, wanted, lambda doing, so_far: pipe.send(("doing", (doing, so_far.to_json())))
        )
        pipe.send(("done", found.to_json()))
    except RlclinicError as error:
        pipe.send(("error", (error.message, error.path, error.hint)))


def _refuse(connection: Connection, memo: Any) -> Any:
    raise TypeError("a connection to another process cannot be copied")


def policy_named(name: str, trust: tuple[str, ...] = (), make: Make | None = None) -> Any:
    """A function that the user names, the policy of a run of `rlclinic train`, or of a checkpoint of SB3.

    A checkpoint alone does not tell its spaces: `make` makes an environment that has them.
    """
    if make is not None and Path(name).suffix == ".zip" and Path(name).exists():
        from rlclinic.lab.imitation.sb3_file import policy_of_file
        from rlclinic.lab.torchrl.spaces import spaces_of

        environment = make()
        spaces = spaces_of(environment.observation_space, environment.action_space, images=True)
        environment.close()
        return policy_of_file(Path(name), spaces)
    if not Path(name).is_dir():
        return load(name)
    from rlclinic.environment.episodes import single
    from rlclinic.lab.sb3.playing import policy_of

    return single(policy_of(Path(name), trust)[1])


@contextmanager
def _one_thread() -> Iterator[None]:
    """The child's libraries read it as they load; matrices of this size gain nothing from a second thread."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("OMP_NUM_THREADS", None)


def _ended(process: Any) -> None:
    process.join(2)
    if process.is_alive():
        process.terminate()
        process.join(3)
    if process.is_alive():
        process.kill()
        process.join(5)

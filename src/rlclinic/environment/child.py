"""Call one function in a process of its own: code that the user named may crash or hang there."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from rlclinic.model.errors import RlclinicError, RunReadError, UsageError
from rlclinic.store.children import settled, spawning


def in_child(function: Callable[..., Any], *arguments: Any, doing: str, path: str, patience: float) -> Any:
    """What the function returns, which must be plain data; RunReadError where it takes too long or dies."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, function, arguments, doing, path), daemon=True)
    with spawning():
        process.start()
    theirs.close()
    try:
        if not ours.poll(patience):
            raise RunReadError(f"{doing} did not finish within {patience:.0f} s", path=path)
        kind, value = ours.recv()
    except EOFError as error:
        raise RunReadError(f"the process of {doing} died", path=path) from error
    finally:
        ours.close()
        process.kill()
        process.join(5)
    if kind == "error":
        raise UsageError(value[0], path=value[1], hint=value[2])
    return value


def _serve(pipe: Connection, function: Callable[..., Any], arguments: tuple[Any, ...], doing: str, path: str) -> None:
    settled()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    # What the user's code prints must not come between the lines of a report.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        pipe.send(("done", function(*arguments)))
    except RlclinicError as error:
        pipe.send(("error", (error.message, error.path, error.hint)))
    except Exception as error:
        pipe.send(("error", (f"{doing} raised {type(error).__name__}: {error}", path, "")))

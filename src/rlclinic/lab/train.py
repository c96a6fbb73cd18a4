"""Train a recipe into a run folder: the one entry of the lab."""

from __future__ import annotations

import signal
import threading
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rlclinic.lab.backend import backend_for
from rlclinic.lab.checkpoints import last_checkpoint
from rlclinic.lab.errors import EnvironmentFault, ExpertFault, TrainingError
from rlclinic.lab.facts import facts_of
from rlclinic.lab.folder import LAST, RunFolder, cannot_write, check_own, create_folder, open_folder
from rlclinic.lab.progress import Listener
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.session import Session
from rlclinic.lab.values import typed
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.model.numbers import number
from rlclinic.model.run import Status
from rlclinic.readers.state import HEARTBEAT_EVERY, is_alive, running_here
from rlclinic.store.files import link_whole
from rlclinic.store.processes import noted


def train(
    recipe: Recipe | None = None,
    root: str | Path = "runs",
    *,
    resume: str | Path | None = None,
    progress: Listener | None = None,
    stop_after: int | None = None,
    trust: Iterable[str] = (),
) -> Path:
    """Train a recipe in a new folder below `root`, or go on with the run in `resume`; the path of the run's folder.

    The folder's status.json says how it ended: `finished` (budget or threshold) or `interrupted` (Ctrl-C, SIGTERM).
    A run that is resumed goes on from its last checkpoint, or from the start where it has none. `stop_after` env steps
    it is interrupted, at the end of an update, though its budget and the schedules that follow it are longer. `trust`
    names what of a resumed run's own environment and wrappers may be imported; a recipe says it itself.

    Raises:
        UsageError: The recipe cannot be trained as it stands; nothing was written.
        TrainingError: Training failed. The folder keeps everything up to then and says what happened.
    """
    folder = prepare(recipe, root) if resume is None else open_folder(Path(resume))
    names = trust if recipe is None else recipe.trust
    train_folder(folder, progress, is_new=resume is None, stop_after=stop_after, trust=names)
    return folder.path


def prepare(recipe: Recipe | None, root: str | Path = "runs") -> RunFolder:
    """Check a recipe and make its run folder, without training: what `train(resume=...)` then fills."""
    if recipe is None:
        raise UsageError("nothing to train", hint="give a recipe or a run to resume")
    backend = backend_for(recipe.framework)
    # config.json tells every value that applies, so that the run reads the same when the library's defaults change.
    defaults = backend.hyperparameters(recipe.algorithm)
    missing = {key: value for key, value in defaults.items() if key not in recipe.hyperparameters}
    complete = recipe.with_changes(missing)
    backend.check(complete)
    return create_folder(Path(root), complete, facts_of(complete))


def train_folder(
    folder: RunFolder,
    progress: Listener | None = None,
    *,
    is_new: bool,
    stop_after: int | None = None,
    trust: Iterable[str] = (),
) -> None:
    """Train the run of a folder: one that `prepare` has just made, or one to resume."""
    if not is_new:
        _check_idle(folder)
        check_own(folder.path)
    recipe = folder.recipe(trust)
    backend = backend_for(recipe.framework)
    if not is_new:
        for key, value in recipe.to_config().items():
            typed(key, value)
        backend.check(recipe)
    with noted(folder.path):
        session = _session(folder, recipe, progress)
        session.stop_after = stop_after
        failure: Exception | None = None
        with _stop_on_signal(session), _heartbeat(session), _warnings_in_log(folder):
            try:
                backend.train(recipe, session)
            except KeyboardInterrupt:
                session.request_stop(Status.INTERRUPTED, "Ctrl-C")
            except Exception as error:
                failure = error
        if failure is not None:
            _fail(session, failure)
        status, reason = session.stop_reason or (Status.FINISHED, "the budget is used")
        _end(session, status, reason)


def _check_idle(folder: RunFolder) -> None:
    """Refuse a run that another process trains, before anything is looked at that it may be writing."""
    state = folder.state()
    if state is not None and is_alive(state):
        raise UsageError(
            f"process {state.pid} trains this run", path=str(folder.path), hint="stop it first: rlclinic stop RUN"
        )


def _session(folder: RunFolder, recipe: Recipe, progress: Listener | None) -> Session:
    before = folder.state()
    saved = last_checkpoint(folder.path)
    try:
        if before is not None:
            cut = folder.metrics.cut_after(saved.env_steps if saved else 0)
            where = f"from step {saved.env_steps:,}" if saved else "from the start: there is no checkpoint"
            folder.log(f"resumed {where}" + (f"; {cut} later rows moved to metrics.cut.csv" if cut else ""))
            folder.reserve_space()
            link_whole(folder.path.parent / LAST, folder.id)
        seconds = number(saved.state.get("seconds")) or 0.0 if saved else 0.0
        state = running_here(
            started=before.started if before else None, seconds=seconds, env_steps=saved.env_steps if saved else 0
        )
        folder.set_state(state)
        folder.log(
            f"training {recipe.algorithm} on {recipe.environment} with {recipe.framework}: {recipe.total_steps:,} steps"
        )
        return Session(recipe, folder, state, saved, progress)
    except OSError as error:
        raise cannot_write(error, folder.path) from error


def _fail(session: Session, error: Exception) -> None:
    """Keep what can be kept, write down what happened, and tell the user."""
    folder = session.folder
    told = cannot_write(error, folder.path) if isinstance(error, OSError) else error
    message = told.message if isinstance(told, RlclinicError) else f"{type(error).__name__}: {error}"
    hint = told.hint if isinstance(told, RlclinicError) else ""
    try:
        folder.release_space()
        if isinstance(error, EnvironmentFault | ExpertFault):
            session.rescue()
        folder.log(f"failed at step {session.env_steps:,}: {message}")
        folder.log_traceback("".join(traceback.format_exception(error)))
        _end(session, Status.CRASHED, message)
    except OSError:
        # Not even the reserve was enough, or nothing can be written any more; the user is told on the terminal below.
        pass
    raise TrainingError(message, path=str(folder.path), hint=hint or f"see {folder.path}/run.log") from error


def _end(session: Session, status: Status, reason: str) -> None:
    folder = session.folder
    folder.metrics.close()
    session.episodes.recorder.write()
    folder.release_space()
    folder.set_state(session.end_state(status, reason))
    folder.log(f"{status.value} at step {session.env_steps:,}: {reason}")


@contextmanager
def _stop_on_signal(session: Session) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM asks for a clean end, the second ends at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if session.should_stop():
            raise KeyboardInterrupt
        session.request_stop(Status.INTERRUPTED, "Ctrl-C" if number == signal.SIGINT else "stopped by SIGTERM")

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _warnings_in_log(folder: RunFolder) -> Iterator[None]:
    """What the libraries warn of belongs to the run, not only to the terminal."""
    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        folder.log(f"{category.__name__}: {message}")
        before(message, category, *rest, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


@contextmanager
def _heartbeat(session: Session) -> Iterator[None]:
    """Renew status.json from a thread, so that a long update or evaluation does not look like a dead process."""
    done = threading.Event()

    def beat() -> None:
        while not done.wait(HEARTBEAT_EVERY):
            try:
                session.folder.set_state(session.state())
            except OSError:
                # The next row meets the same full disk and says so.
                continue

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()

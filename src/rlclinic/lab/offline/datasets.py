"""Make data sets of recorded steps from trained runs: random, medium, expert, mixed and replay."""

from __future__ import annotations

import json
import os
import warnings
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlclinic.lab.checkpoints import last_checkpoint, open_arrays
from rlclinic.lab.environments import check_environment, make_environment
from rlclinic.lab.folder import open_folder
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.sb3.playing import policy_of
from rlclinic.lab.sb3.saving import REPLAY
from rlclinic.model.errors import UsageError

KINDS = ("random", "medium", "expert", "mixed", "replay")
# Steps of a data set where none are asked for.
STEPS = 5_000
# Random actions among those of a trained policy: without any, its data hold one action for each state.
WILD = 0.1
# Added to the seed: data start where neither training nor evaluation does.
SEED_OFFSET = 3_000_000

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Made:
    """A data set that was written."""

    kind: str
    path: Path
    episodes: int
    steps: int
    mean_return: float


def make_datasets(
    expert: Path,
    folder: Path,
    *,
    medium: Path | None = None,
    kinds: Iterable[str] = KINDS,
    steps: int = STEPS,
    seed: int = 0,
    trust: Iterable[str] = (),
) -> list[Made]:
    """Write data sets of a run that `rlclinic train` made with Stable-Baselines3, one per kind, below a folder.

    `medium` is a run of the same task that stopped half-way. Kinds that need what is not there are an error: the medium
    run for `medium`, a replay buffer in the expert's last checkpoint for `replay`.
    """
    chosen = [kind for kind in KINDS if kind in set(kinds)]
    if not chosen or set(kinds) - set(KINDS):
        raise UsageError(f"kinds {', '.join(kinds)}", hint=f"some of {', '.join(KINDS)}")
    recipe, best = policy_of(expert, trust)
    makers: dict[str, Callable[[], Arrays]] = {
        "random": lambda: _played(recipe, None, steps, seed),
        "expert": lambda: _played(recipe, best, steps, seed),
        "medium": lambda: _played(recipe, _medium(medium, recipe, trust), steps, seed),
        "mixed": lambda: _joined(
            _played(recipe, None, steps // 2, seed), _played(recipe, best, steps - steps // 2, seed + 1_000)
        ),
        "replay": lambda: _replay(expert, recipe, steps),
    }
    made = []
    for kind in chosen:
        arrays = makers[kind]()
        path = write_dataset(folder, recipe, kind, arrays)
        _, owner = np.unique(arrays["episodes"], return_inverse=True)
        returns = np.bincount(owner, weights=arrays["rewards"])
        made.append(Made(kind, path, len(returns), len(owner), float(returns.mean())))
    return made


def _medium(run: Path | None, recipe: Recipe, trust: Iterable[str]) -> Any:
    if run is None:
        raise UsageError("medium data need a policy that is half-way", hint="--medium RUN, or leave the kind out")
    other, act = policy_of(run, trust)
    if other.environment != recipe.environment:
        raise UsageError(f"is a run of {other.environment}", path=str(run), hint=f"name one of {recipe.environment}")
    return act


def _played(recipe: Recipe, act: Any, steps: int, seed: int) -> Arrays:
    """Whole episodes until there are enough steps; the last one may be longer than asked."""
    environment = make_environment(recipe)
    space = check_environment(recipe)[1]
    space.seed(seed)
    random = np.random.default_rng(seed)
    rows: dict[str, list[Any]] = {}
    episode = 0
    try:
        while len(rows.get("rewards", ())) < steps:
            observation, _ = environment.reset(seed=seed + SEED_OFFSET + episode)
            over = False
            while not over:
                wild = act is None or random.random() < WILD
                action = space.sample() if wild else act(np.asarray(observation)[None])[0]
                following, reward, terminated, truncated, _ = environment.step(action)
                over = bool(terminated or truncated)
                row = (observation, action, float(reward), following, terminated, truncated, episode)
                for name, value in zip(COLUMNS, row, strict=True):
                    rows.setdefault(name, []).append(value)
                observation = following
            episode += 1
    finally:
        environment.close()
    return {name: np.asarray(values) for name, values in rows.items()}


COLUMNS = ("observations", "actions", "rewards", "next_observations", "terminated", "truncated", "episodes")


def _joined(first: Arrays, second: Arrays) -> Arrays:
    later = {**second, "episodes": second["episodes"] + first["episodes"].max() + 1}
    return {name: np.concatenate([first[name], later[name]]) for name in COLUMNS}


def _replay(run: Path, recipe: Recipe, steps: int) -> Arrays:
    """The whole of what the run saw while it learned, thinned to whole episodes over its length."""
    saved = last_checkpoint(open_folder(run).path)
    if saved is None or not (saved.path / REPLAY).is_file():
        raise UsageError(
            "its checkpoint holds no replay buffer", path=str(run), hint="a run of dqn, sac or td3, or other kinds"
        )
    with open_arrays(saved.path / REPLAY) as file:
        found = {name: np.asarray(file[name]) for name in ("observations", "next_observations", "actions", "rewards")}
        dones, timeouts = np.asarray(file["dones"]).ravel() > 0, np.asarray(file["timeouts"]).ravel() > 0
    count = len(dones)
    flat = {name: values.reshape(count, *values.shape[2:]) for name, values in found.items()}
    over = dones | timeouts
    episodes = np.concatenate([[0], np.cumsum(over)[:-1]])
    # An episode that is not over yet has no end to learn from.
    whole = episodes < int(over.sum())
    every = max(int(whole.sum()) // max(steps, 1), 1)
    kept = whole & (episodes % every == 0)
    if not kept.any():
        raise UsageError("no episode of its replay buffer is over", path=str(run), hint="train it longer")
    columns = {
        **flat, "rewards": flat["rewards"].ravel(), "terminated": dones & ~timeouts, "truncated": timeouts,
        "episodes": episodes,
    }  # fmt: skip
    space = check_environment(recipe)[1]
    if hasattr(space, "n"):
        columns["actions"] = columns["actions"].ravel()
    else:
        # Stable-Baselines3 keeps the actions of a Box in [-1, 1].
        columns["actions"] = space.low + (columns["actions"] + 1) / 2 * (space.high - space.low)
    return {name: columns[name][kept] for name in COLUMNS}


def write_dataset(folder: Path, recipe: Recipe, kind: str, arrays: Arrays) -> Path:
    """In Minari's format where that library is there, otherwise as npz; the path."""
    name = recipe.environment.partition("-v")[0].rpartition("/")[2].rpartition(":")[2].lower()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import minari
    except ModuleNotFoundError:
        path = folder / f"{name}-{kind}.npz"
        np.savez_compressed(path, allow_pickle=False, env_id=np.asarray(recipe.environment), **arrays)
        return path
    path = folder / name / f"{kind}-v0"
    if path.exists():
        raise UsageError("exists", path=str(path), hint="another folder, or delete it")
    before = os.environ.get("MINARI_DATASETS_PATH")
    os.environ["MINARI_DATASETS_PATH"] = str(folder.resolve())
    environment = make_environment(recipe)
    try:
        with warnings.catch_warnings():
            # It asks for an author and a link to code that nobody here knows.
            warnings.simplefilter("ignore", UserWarning)
            minari.create_dataset_from_buffers(f"{name}/{kind}-v0", _buffers(arrays), env=environment)
    finally:
        environment.close()
        if before is None:
            del os.environ["MINARI_DATASETS_PATH"]
        else:
            os.environ["MINARI_DATASETS_PATH"] = before
    return path


def _buffers(arrays: Arrays) -> list[Any]:
    from minari.data_collector import EpisodeBuffer

    found: list[Any] = []
    for number in np.unique(arrays["episodes"]):
        rows = {name: values[arrays["episodes"] == number] for name, values in arrays.items()}
        seen = np.concatenate([rows["observations"], rows["next_observations"][-1:]])
        found.append(
            EpisodeBuffer(
                id=len(found),
                observations=seen,
                actions=rows["actions"],
                rewards=list(rows["rewards"]),
                terminations=list(rows["terminated"]),
                truncations=list(rows["truncated"]),
            )
        )
    return found


def environment_of(path: Path) -> str:
    """The environment that a data set names: Minari's metadata, or `env_id` of an npz; empty where it names none."""
    if path.suffix.lower() == ".npz":
        try:
            with open_arrays(path) as file:
                return str(file["env_id"]) if "env_id" in file else ""
        except (OSError, ValueError, zipfile.BadZipFile):
            return ""
    for folder in (path / "data", path, path.parent):
        file = folder / "metadata.json"
        if file.is_file():
            try:
                spec = json.loads(file.read_text(encoding="utf-8")).get("env_spec")
                return str((json.loads(spec) if isinstance(spec, str) else spec or {}).get("id", ""))
            except (OSError, ValueError, AttributeError):
                return ""
    return ""

"""Make the environment that a user names: a Gymnasium id, `module:Class`, a function, a config, a PettingZoo task."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlclinic.environment.other_kinds import as_gymnasium
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Run
from rlclinic.store.children import allow_local

if TYPE_CHECKING:
    from rlclinic.lab.recipe import Recipe

Make = Callable[[], Any]
HINT = "a Gymnasium id such as CartPole-v1, module:Class, module:make_env, or a config of rlclinic or rl-zoo"
CONFIGS = (".yaml", ".yml", ".json")
AROUND = ("frame_skip", "frame_stack", "max_episode_steps")
"""Settings of a training that are wrappers of the environment."""


def maker_of(
    name: str,
    arguments: Mapping[str, object] | None = None,
    trust: Iterable[str] = (),
    around: Recipe | None = None,
) -> Make:
    """What makes a fresh environment each time, within the wrappers of `around`; UsageError where the name means none.

    The user wrote the name, so the code that it names may run; what a config names may not, but for Gymnasium's own
    environments, harmless wrappers, and what `trust` names.
    """
    given = dict(arguments or {})
    if Path(name.partition("::")[0]).suffix in CONFIGS:
        return _of_config(name, frozenset(trust))
    from rlclinic.lab.environments import dressed, make_environment
    from rlclinic.lab.recipe import Recipe

    registered = ":" not in name or name.rpartition("-v")[2].isdigit()
    if registered:
        if name.startswith("ALE/"):
            _register_atari()
        if name.startswith(("MiniGrid", "BabyAI")):
            _imported("minigrid")
        plain = Recipe("sb3", "PPO", name, 1, trust=frozenset({name}))
        recipe = replace(around or plain, env_kwargs=given)
        return lambda: make_environment(recipe)
    found = _named(name)
    if around is None:
        return lambda: as_gymnasium(_called(found, name, given))
    return lambda: dressed(as_gymnasium(_called(found, name, given)), around)


def load(name: str) -> Any:
    """What `module:name` names, such as a policy; UsageError where there is none."""
    return _named(
        name, "module:function, the zip of a checkpoint of Stable-Baselines3, or the folder of a run of rlclinic"
    )


def _of_config(name: str, trust: frozenset[str]) -> Make:
    """The environment of a config with its wrappers."""
    from rlclinic.lab.config_file import read_config_file
    from rlclinic.lab.environments import make_environment
    from rlclinic.lab.recipe import Recipe

    path, _, variant = name.partition("::")
    if not Path(path).is_file():
        raise UsageError("no such file", path=path, hint=HINT)
    values = _zoo_entry(Path(path), variant) or read_config_file(Path(path), variant)[0]
    plain = Recipe("sb3", str(values["algorithm"]), str(values["env_id"]), 1, trust=trust)
    kept: dict[str, object] = {key: values[key] for key in ("env_kwargs", "env_wrappers", *AROUND) if key in values}
    recipe = plain.with_changes(kept)
    return lambda: make_environment(recipe)


def _zoo_entry(path: Path, name: str) -> dict[str, object] | None:
    """An entry of a file of rl-zoo, which has environments as its keys; None for a file of another kind."""
    from rlclinic.readers.formats.errors import FormatError
    from rlclinic.readers.formats.yaml.safe_yaml import load_yaml
    from rlclinic.readers.no_links import read_file

    try:
        data = load_yaml(read_file(path).decode("utf-8")).data
    except (OSError, UnicodeDecodeError, FormatError):
        return None
    entries = data.items() if isinstance(data, Mapping) else ()
    tasks = {key: entry for key, entry in entries if isinstance(entry, Mapping) and "n_timesteps" in entry}
    if not tasks:
        return None
    if not name and len(tasks) == 1:
        (name,) = tasks
    if name not in tasks:
        hint = f"name it as {path.name}::ENTRY, one of {', '.join(list(tasks)[:6])}"
        raise UsageError(f"has no entry {name!r}", path=str(path), hint=hint)
    entry = tasks[name]
    kept = {key: entry[key] for key in ("env_kwargs", "frame_stack") if key in entry}
    return {"algorithm": "PPO", "env_id": name, "env_wrappers": _entries(entry.get("env_wrapper")), **kept}


def _entries(given: object) -> list[dict[str, object]]:
    """Wrappers as rl-zoo or rlclinic write them, each with its arguments.

    rl-zoo writes `package.module.Class` or `{package.module.Class: {argument: value}}`.
    """
    found = []
    for one in given if isinstance(given, list) else [given] if given else []:
        if isinstance(one, Mapping) and "id" in one:
            found.append(dict(one))
            continue
        wrapper, arguments = next(iter(one.items())) if isinstance(one, Mapping) and one else (one, None)
        # `package.module.Class`, here `package.module:Class`; what a file names is not imported unless it is harmless.
        found.append({"id": ":".join(str(wrapper).rsplit(".", 1)), **(arguments or {})})
    return found


def around_of(run: Run) -> dict[str, object]:
    """What a run's config puts around its environment, as plain values."""
    config = run.config
    found = {key: one.value for key in AROUND if (one := config.settings.get(key)) is not None and not one.is_default}
    start = "env_kwargs."
    arguments = {key.removeprefix(start): one.value for key, one in config.native.items() if key.startswith(start)}
    entries = _entries(config.get("env_wrappers"))
    for entry in [one for one in entries if str(one["id"]).rpartition(":")[2] == "VecFrameStack"]:
        entries.remove(entry)
        found.setdefault("frame_stack", entry.get("n_stack"))
    return {**found, "env_kwargs": arguments, "env_wrappers": entries}


def rebuilt(around: Mapping[str, Any], name: str, trust: Iterable[str]) -> tuple[Recipe, tuple[str, ...]]:
    """A recipe with what a run's config puts around its environment, and what of it could not be rebuilt."""
    from rlclinic.lab.recipe import Recipe, wrappers_of
    from rlclinic.lab.trust import check_arguments, check_wrapper

    kept, told = {key: around[key] for key in AROUND if key in around}, []
    wrappers, arguments = [], around.get("env_kwargs") or {}
    trusted = frozenset(trust)
    for wrapper in wrappers_of(around.get("env_wrappers")):
        try:
            check_wrapper(wrapper, trusted)
            wrappers.append(wrapper)
        except UsageError as error:
            told.append(f"left out: {error.message}; {error.hint}")
    try:
        if name not in trusted:
            check_arguments(f"environment {name}", name, arguments)
    except UsageError as error:
        arguments = {}
        told.append(f"left out: {error.message}; {error.hint}")
    recipe = Recipe("sb3", "PPO", name, 1, kept, env_kwargs=arguments, wrappers=tuple(wrappers), trust=trusted | {name})
    return recipe, tuple(told)


def _named(name: str, hint: str = HINT) -> Any:
    module, _, path = name.partition(":")
    if not module or not path:
        raise UsageError(f"{name!r} names nothing", hint=hint)
    allow_local(module)
    try:
        found: Any = import_module(module)
    except Exception as error:
        raise UsageError(f"importing {module} raised {type(error).__name__}: {error}", hint=hint) from error
    for part in path.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise UsageError(f"module {module} has no {path!r}", hint=hint)
    return found


def _called(found: Any, name: str, arguments: dict[str, object]) -> Any:
    if not callable(found):
        raise UsageError(f"{name} can be called neither as a class nor as a function", hint=HINT)
    if inspect.ismodule(found):
        found = found.parallel_env
    return found(**arguments)


def _register_atari() -> None:
    import gymnasium

    gymnasium.register_envs(_imported("ale_py"))


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UsageError(f"this environment needs {error.name}", hint=f"pip install {error.name}") from error

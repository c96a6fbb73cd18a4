"""Make the environment that a user names: a Gymnasium id, `module:Class`, a function, a config, a PettingZoo task."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from rlclinic.environment.other_kinds import as_gymnasium
from rlclinic.model.errors import UsageError
from rlclinic.store.children import allow_local

Make = Callable[[], Any]
HINT = "a Gymnasium id such as CartPole-v1, module:Class, module:make_env, or a config of rlclinic or rl-zoo"
CONFIGS = (".yaml", ".yml", ".json")


def maker_of(name: str, arguments: dict[str, object] | None = None, trust: Iterable[str] = ()) -> Make:
    """What makes a fresh environment each time; UsageError where the name means none.

    The user wrote the name, so the code that it names may run; what a config names may not, but for Gymnasium's own
    environments, harmless wrappers, and what `trust` names.
    """
    given = arguments or {}
    if Path(name.partition("::")[0]).suffix in CONFIGS:
        return _of_config(name, frozenset(trust))
    from rlclinic.lab.environments import make_environment
    from rlclinic.lab.recipe import Recipe

    registered = ":" not in name or name.rpartition("-v")[2].isdigit()
    if registered:
        if name.startswith("ALE/"):
            _register_atari()
        if name.startswith(("MiniGrid", "BabyAI")):
            _imported("minigrid")
        recipe = Recipe("sb3", "PPO", name, 1, env_kwargs=given, trust=frozenset({name}))
        return lambda: make_environment(recipe)
    found = _named(name)
    return lambda: as_gymnasium(_called(found, name, given))


def load(name: str) -> Any:
    """What `module:name` names, such as a policy; UsageError where there is none."""
    return _named(name, "module:function, the zip of a checkpoint of Stable-Baselines3, or the folder of a run of rlclinic")


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
    kept: dict[str, object] = {
        key: values[key]
        for key in ("env_kwargs", "env_wrappers", "frame_skip", "frame_stack", "max_episode_steps")
        if key in values
    }
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
    given = entry.get("env_wrapper") or []
    wrappers = []
    for one in given if isinstance(given, list) else [given]:
        wrapper, arguments = next(iter(one.items())) if isinstance(one, Mapping) else (one, None)
        # `package.module.Class`, here `package.module:Class`; what a file names is not imported unless it is harmless.
        wrappers.append({"id": ":".join(str(wrapper).rsplit(".", 1)), **(arguments or {})})
    kept = {key: entry[key] for key in ("env_kwargs", "frame_stack") if key in entry}
    return {"algorithm": "PPO", "env_id": name, "env_wrappers": wrappers, **kept}


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

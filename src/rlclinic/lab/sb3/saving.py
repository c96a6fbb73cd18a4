"""The state of a Stable-Baselines3 model as tensors and npz: saved and loaded without any pickle of code."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rlclinic.lab.checkpoints import open_arrays
from rlclinic.model.numbers import number

MODEL, OPTIMIZER, NORMALISER, REPLAY, RANDOM = "model.pt", "optimizer.pt", "normaliser.npz", "replay.npz", "random.npz"
# Most that a replay buffer may take on the disk; the newest transitions are kept. In bytes.
REPLAY_LIMIT = 256 << 20
_REPLAY_ARRAYS = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")
_COUNTERS = ("num_timesteps", "_n_updates", "_episode_num", "_n_calls", "_current_progress_remaining")


def save_model(model: Any, folder: Path) -> None:
    """Write weights, optimisers, normaliser, replay buffer, counters and random states."""
    parameters = model.get_parameters()
    torch.save(parameters.pop("policy"), folder / MODEL)
    variables = {name: getattr(model, name).detach() for name in model._get_torch_save_params()[1]}
    counters = {name: getattr(model, name) for name in _COUNTERS if hasattr(model, name)}
    torch.save({"optimizers": parameters, "variables": variables, "counters": counters}, folder / OPTIMIZER)
    normaliser = model.get_vec_normalize_env()
    if normaliser is not None:
        np.savez(folder / NORMALISER, **_normaliser_arrays(normaliser))
    if getattr(model, "replay_buffer", None) is not None:
        np.savez(folder / REPLAY, **_replay_arrays(model.replay_buffer))
    _save_random(folder / RANDOM)


def load_model(model: Any, folder: Path) -> None:
    """Bring a freshly built model to a saved state. Environments start new episodes: their state is not saved."""
    weights = torch.load(folder / MODEL, weights_only=True, map_location=model.device)
    rest = torch.load(folder / OPTIMIZER, weights_only=True, map_location=model.device)
    model.set_parameters({"policy": weights, **rest["optimizers"]}, exact_match=True, device=model.device)
    # Only what is saved above is set: another name could make the model write elsewhere.
    for name in model._get_torch_save_params()[1]:
        current, value = getattr(model, name), rest["variables"][name]
        if getattr(current, "requires_grad", False):
            current.data.copy_(value)
        else:
            setattr(model, name, value)
    for name in _COUNTERS:
        if hasattr(model, name) and (value := number(rest["counters"].get(name))) is not None:
            setattr(model, name, type(getattr(model, name))(value))
    normaliser = model.get_vec_normalize_env()
    if normaliser is not None and (folder / NORMALISER).is_file():
        _load_normaliser(normaliser, folder / NORMALISER)
    if getattr(model, "replay_buffer", None) is not None and (folder / REPLAY).is_file():
        _load_replay(model.replay_buffer, folder / REPLAY)
    _load_random(folder / RANDOM)


def _normaliser_arrays(normaliser: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, statistics in _statistics(normaliser).items():
        found |= {f"{name}/mean": statistics.mean, f"{name}/var": statistics.var, f"{name}/count": statistics.count}
    return found


def _load_normaliser(normaliser: Any, path: Path) -> None:
    with open_arrays(path) as arrays:
        for name, statistics in _statistics(normaliser).items():
            statistics.mean, statistics.var = arrays[f"{name}/mean"], arrays[f"{name}/var"]
            statistics.count = float(arrays[f"{name}/count"])


def _statistics(normaliser: Any) -> dict[str, Any]:
    """The running statistics of returns and observations, by name."""
    found = {"ret": normaliser.ret_rms}
    if normaliser.norm_obs:
        seen = normaliser.obs_rms
        found |= {f"obs/{key}": part for key, part in (seen if isinstance(seen, dict) else {"all": seen}).items()}
    return found


def _replay_arrays(buffer: Any) -> dict[str, Any]:
    size = buffer.buffer_size if buffer.full else buffer.pos
    parts = _replay_parts(buffer)
    row = sum(array[0].nbytes for array in parts.values())
    kept = min(size, max(REPLAY_LIMIT // max(row, 1), 1))
    newest = (np.arange(buffer.pos - kept, buffer.pos)) % buffer.buffer_size
    return {name: array[newest] for name, array in parts.items()}


def _load_replay(buffer: Any, path: Path) -> None:
    with open_arrays(path) as arrays:
        kept = min(len(arrays["rewards"]), buffer.buffer_size)
        for name, array in _replay_parts(buffer).items():
            array[:kept] = arrays[name][-kept:]
    buffer.full = kept == buffer.buffer_size
    buffer.pos = kept % buffer.buffer_size


def _replay_parts(buffer: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in _REPLAY_ARRAYS:
        value = getattr(buffer, name, None)
        if isinstance(value, dict):
            found |= {f"{name}/{key}": array for key, array in value.items()}
        elif value is not None:
            found[name] = value
    return found


def _save_random(path: Path) -> None:
    _, keys, position, has_gauss, cached = np.random.get_state()
    version, internal, gauss = random.getstate()
    np.savez(
        path,
        torch=torch.get_rng_state().numpy(),
        numpy_keys=keys,
        numpy_rest=np.array([position, has_gauss, cached], dtype=np.float64),
        python=np.array(internal, dtype=np.uint64),
        python_rest=np.array([version, np.nan if gauss is None else gauss], dtype=np.float64),
    )


def _load_random(path: Path) -> None:
    with open_arrays(path) as arrays:
        torch.set_rng_state(torch.from_numpy(arrays["torch"]))
        position, has_gauss, cached = arrays["numpy_rest"]
        np.random.set_state(("MT19937", arrays["numpy_keys"], int(position), int(has_gauss), float(cached)))
        version, gauss = arrays["python_rest"]
        internal = tuple(int(word) for word in arrays["python"])
        random.setstate((int(version), internal, None if np.isnan(gauss) else float(gauss)))

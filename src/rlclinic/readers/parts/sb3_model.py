"""SB3's model zip: the plain values of its JSON member. Pickled members are never opened."""

from __future__ import annotations

import zipfile

from rlclinic.readers.configs.arguments import arguments
from rlclinic.readers.draft import Draft
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.safe_json import load_json_data
from rlclinic.readers.place import Entry

MAX_MEMBER_BYTES = 4 << 20

# Values of the model that are hyperparameters; the rest is state.
KEYS = (
    "learning_rate", "gamma", "gae_lambda", "n_steps", "batch_size", "n_epochs", "ent_coef", "vf_coef",
    "max_grad_norm", "target_kl", "clip_range", "clip_range_vf", "normalize_advantage", "buffer_size",
    "learning_starts", "tau", "train_freq", "gradient_steps", "target_update_interval", "target_entropy",
    "exploration_fraction", "exploration_initial_eps", "exploration_final_eps", "policy_delay",
    "target_policy_noise", "use_sde", "n_envs", "seed", "_total_timesteps", "policy_kwargs",
)  # fmt: skip

# What the linear schedules of SB3 and rl-zoo call the value that they begin with.
STARTS = ("start", "initial_value")


def is_sb3_model(names: set[str]) -> bool:
    """Whether the members of a zip are those of an SB3 model."""
    return {"data", "_stable_baselines3_version"} <= names


def read_model(draft: Draft, entry: Entry) -> bool:
    """Add the hyperparameters that a model zip holds as plain JSON."""
    try:
        with entry.open() as file, zipfile.ZipFile(file) as archive:
            if not is_sb3_model(set(archive.namelist())):
                return False
            data = load_json_data(_member(archive, "data"))
            version = _member(archive, "_stable_baselines3_version").strip()
    except (OSError, FormatError, zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError) as error:
        draft.note(f"{entry.relative}: not readable as an SB3 model ({type(error).__name__})")
        return False
    draft.used(entry, "model")
    draft.setting("_stable_baselines3_version", version, entry.relative)
    if isinstance(data, dict):
        for key in KEYS:
            if key in data:
                _setting(draft, key, data[key], entry.relative)
        _falling_rate(draft, data.get("lr_schedule"), entry.relative)
        _spaces(draft, data, entry.relative)
    return True


def _setting(draft: Draft, key: str, value: object, file: str) -> None:
    if not isinstance(value, dict):
        draft.setting(key, value, file)
    elif ":serialized:" not in value:
        draft.document(value, file, prefix=f"{key}.")
    elif "val" in (schedule := _schedule(value)):
        draft.setting(key, schedule["val"], file)


def _schedule(value: object) -> dict[str, object]:
    """Beside the pickle stands a text of the object: ConstantSchedule(val=0.2)."""
    return arguments(str(value.get("value_schedule", ""))) if isinstance(value, dict) else {}


def _falling_rate(draft: Draft, value: object, file: str) -> None:
    """A learning rate that falls linearly: where it begins and where it ends."""
    schedule = _schedule(value)
    start = next((schedule[name] for name in STARTS if name in schedule), None)
    if start is not None:
        draft.setting("learning_rate", start, file)
        draft.setting("learning_rate_schedule", "linear", file)
        draft.setting("learning_rate_final", schedule.get("end", 0.0), file)


def _spaces(draft: Draft, data: dict[str, object], file: str) -> None:
    action, observation = data.get("action_space"), data.get("observation_space")
    if isinstance(action, dict) and str(action.get("n", "")).isdigit():
        draft.setting("action_space.n", int(str(action["n"])), file)
    elif isinstance(action, dict) and isinstance(action.get("_shape"), list):
        draft.setting("action_space.shape", action["_shape"], file)
    if isinstance(observation, dict) and isinstance(observation.get("_shape"), list):
        draft.setting("observation_space.shape", observation["_shape"], file)


def _member(archive: zipfile.ZipFile, name: str) -> str:
    if archive.getinfo(name).file_size > MAX_MEMBER_BYTES:
        raise ValueError(f"{name} is too large")
    return archive.read(name).decode("utf-8", errors="replace")

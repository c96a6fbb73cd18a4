"""Unity ML-Agents results: configuration.yaml, run_logs/, one folder of event files per behaviour."""

from __future__ import annotations

import numpy as np

from rlclinic.model.numbers import number
from rlclinic.model.run import Checkpoint, Status
from rlclinic.readers.draft import LIKELY, Draft
from rlclinic.readers.parts.config_files import read_config
from rlclinic.readers.parts.events import event_entries, read_events
from rlclinic.readers.parts.json_files import load_object
from rlclinic.readers.place import Entry


def read(draft: Draft) -> None:
    """Read the behaviour with the most data; the others are named."""
    draft.framework = "mlagents"
    draft.source = "tensorboard"
    behaviours = _behaviours(draft)
    if behaviours:
        name = max(behaviours, key=lambda key: sum(entry.size for entry in behaviours[key]))
        draft.environment = name or draft.place.folder.name
        read_events(draft, behaviours[name])
        others = sorted(set(behaviours) - {name})
        if others:
            draft.note(f"behaviour {name} is shown; read the folder of {', '.join(others)} for the others")
    config = draft.place.first("configuration.yaml")
    if config is not None:
        _configuration(draft, config)
    _training_status(draft)
    timers = draft.place.first("run_logs/timers.json")
    if timers is not None and not draft.files:
        # All that is left of a run whose event files were not kept.
        load_object(draft, timers, "status")


def _behaviours(draft: Draft) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in event_entries(draft.place):
        found.setdefault(entry.relative.rpartition("/")[0], []).append(entry)
    return found


def _configuration(draft: Draft, entry: Entry) -> None:
    """Settings of the behaviour come without their `behaviors.<name>.` prefix, as its toml expects."""
    before = set(draft.settings)
    read_config(draft, entry)
    prefix = f"behaviors.{draft.environment}."
    for key in [key for key in draft.settings if key.startswith(prefix) and key not in before]:
        setting = draft.settings[key]
        line = setting.origin.line if setting.origin else None
        draft.setting(key.removeprefix(prefix), setting.value, entry.relative, line)
    draft.algorithm = draft.algorithm or draft.text(f"{prefix}trainer_type", "default_settings.trainer_type")
    maximum = draft.number(f"{prefix}max_steps")
    draft.budget = draft.budget or maximum


def _training_status(draft: Draft) -> None:
    entry = draft.place.first("run_logs/training_status.json")
    if entry is None:
        return
    saved = load_object(draft, entry, "status")
    draft.environment = draft.environment or next((name for name in saved if name != "metadata"), "")
    behaviour = saved.get(draft.environment)
    if not isinstance(behaviour, dict):
        return
    checkpoints = behaviour.get("checkpoints")
    listed = checkpoints if isinstance(checkpoints, list) else []
    found = [_checkpoint(one, "") for one in listed if isinstance(one, dict)]
    draft.checkpoints += found
    paid = [(one.step, one.metrics["reward"]) for one in found if one.step is not None and "reward" in one.metrics]
    if paid and not draft.metric_names:
        # All that is left of a run whose event files were not kept.
        steps, rewards = np.array(paid).T
        draft.metric("Environment/Cumulative Reward", steps, rewards, entry.relative)
    final = behaviour.get("final_checkpoint")
    if isinstance(final, dict):
        draft.checkpoints.append(_checkpoint(final, "last"))
        draft.clue(Status.FINISHED, f"{entry.relative}: a final checkpoint was written", LIKELY)


def _checkpoint(saved: dict[str, object], label: str) -> Checkpoint:
    reward = number(saved.get("reward"))
    path = str(saved.get("file_path", "")).replace("\\", "/")
    return Checkpoint(path, number(saved.get("steps")), label, {} if reward is None else {"reward": reward})

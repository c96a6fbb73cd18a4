"""Config files: YAML, JSON, Hydra overrides. Tags and references in them are data, never code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlclinic.readers.configs.untyped import typed
from rlclinic.readers.draft import Draft
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.formats.safe_json import load_json
from rlclinic.readers.place import Entry, Place

if TYPE_CHECKING:
    from rlclinic.readers.formats.yaml.safe_yaml import YamlDocument

# No hand-written or dumped config is larger; what is larger is data.
MAX_CONFIG_BYTES = 8 << 20

# File names that hold hyperparameters, most specific first: the first that sets a key wins.
NAMES = (
    ".hydra/config.yaml",
    "hydra/config.yaml",
    "args.y*ml",
    "args.json",
    "config.y*ml",
    "config.json",
    "cfg.json",
    "cfg.y*ml",
    "params.json",
    "params.y*ml",
    "params/agent.yaml",
    "hparams.y*ml",
    "hparams.json",
    "hyperparam*.y*ml",
    "hyperparam*.json",
    "configuration.yaml",
    "variant.json",
    "train_config.*",
    "training_args.json",
    "settings.json",
    "settings.y*ml",
    "*_config.json",
    "*_config.y*ml",
    "experiment.y*ml",
    "agent.yaml",
)


def config_entries(place: Place) -> list[Entry]:
    """The config files of a run, most specific name first, nearest to the root first."""
    likely = Place(place.root, place.match(*NAMES))
    found: dict[str, Entry] = {}
    for pattern in NAMES if likely.entries else ():
        for entry in sorted(likely.match(pattern), key=lambda item: (item.relative.count("/"), item.relative)):
            found.setdefault(entry.relative, entry)
    return list(found.values())


def read_config(draft: Draft, entry: Entry, prefix: str = "") -> object:
    """Add a config file to the draft and return its data, None where it cannot be read."""
    if entry.size > MAX_CONFIG_BYTES:
        draft.note(f"{entry.relative}: larger than {MAX_CONFIG_BYTES >> 20} MB, not read as a config")
        return None
    try:
        text = decode(entry.read(MAX_CONFIG_BYTES))
        document = load_json(text) if entry.name.endswith(".json") else _load_yaml(text)
    except FormatError as error:
        where = f":{error.line}" if error.line else ""
        draft.note(f"{entry.relative}{where}: {error}")
        return None
    except OSError as error:
        draft.note(f"{entry.relative}: {error.strerror}")
        return None
    if is_table_of_environments(document.data):
        draft.note(f"{entry.relative}: settings of several environments, no record of this run")
        return None
    draft.used(entry, "config")
    draft.problems(entry.relative, document.problems)
    draft.document(document.data, entry.relative, document.lines, prefix)
    return document.data


def is_table_of_environments(data: object) -> bool:
    """Whether a document has a section per environment, as those of rl-zoo: it is no record of any run."""
    if not isinstance(data, dict) or len(data) < 2:
        return False
    return all(isinstance(value, dict) for value in data.values()) and any("-v" in str(key) for key in data)


def _load_yaml(text: str) -> YamlDocument:
    # Most runs have no YAML; importing its parser costs as much as reading a small run.
    from rlclinic.readers.formats.yaml.safe_yaml import yaml_read

    return yaml_read(text)


def read_overrides(draft: Draft, entry: Entry) -> None:
    """Hydra's list of `key=value`."""
    try:
        document = _load_yaml(decode(entry.read(MAX_CONFIG_BYTES)))
    except (FormatError, OSError) as error:
        draft.note(f"{entry.relative}: {error}")
        return
    draft.used(entry, "overrides")
    items = document.data if isinstance(document.data, list) else []
    for index, item in enumerate(items):
        key, separator, value = str(item).partition("=")
        if separator:
            draft.setting(key.lstrip("+~"), typed(value), entry.relative, document.lines.get((index,)))

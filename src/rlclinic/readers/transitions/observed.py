"""What `Observe` wrote beside a run: `observed*.npz`, several where several processes took part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlclinic.model.numbers import number
from rlclinic.model.transitions import EpisodeTable, Observed, Space, Transitions
from rlclinic.readers.draft import Draft
from rlclinic.readers.formats.archive import read_arrays
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.safe_json import load_json_data
from rlclinic.readers.place import Entry
from rlclinic.readers.registry import OBSERVED
from rlclinic.readers.transitions.columns import MOST_COUNTED, whole_numbers
from rlclinic.reference.environment_names import is_plain_id

ARRAYS = (
    "observations", "actions", "rewards", "next_observations", "flags", "places", "components", "episodes", "first",
    "last", "told",
)  # fmt: skip
MOST_BYTES = 64 << 20
"""Of a file."""
MOST_OF_ALL = 256 << 20
"""Bytes of all files of a run, beyond which no further one is read."""
MOST_FILES = 32
SCHEMA = "rlclinic.observed/1"


def read_observed(draft: Draft) -> None:
    """Add what was observed, where there is such a file and it is sound."""
    found, room = [], MOST_OF_ALL
    entries = draft.place.match(OBSERVED)[:MOST_FILES]
    for at, entry in enumerate(entries):
        if room <= 0:
            draft.note(f"{len(entries) - at} files that Observe wrote are not read: the first are too large")
            break
        try:
            observed, size = _read(entry)
            found.append(observed)
            room -= size
            draft.used(entry, "observed")
        except (OSError, FormatError, ValueError, TypeError, KeyError, IndexError) as error:
            draft.note(f"{entry.relative}: not readable as what Observe writes ({type(error).__name__})")
    if found:
        draft.observed = joined(found)
        if is_plain_id(draft.observed.environment):
            draft.environment = draft.environment or draft.observed.environment


def _read(entry: Entry) -> tuple[Observed, int]:
    """What a file holds, and the bytes that it takes."""
    with entry.open() as file:
        arrays = read_arrays(file, ARRAYS, MOST_BYTES)
    missing = [name for name in ARRAYS if name not in arrays]
    if missing:
        raise FormatError(f"no {missing[0]}")
    told = load_json_data(arrays["told"].astype(np.uint8).tobytes().decode("utf-8"))
    if not isinstance(told, dict) or told.get("schema") != SCHEMA:
        raise FormatError("another schema")
    return observed_of(arrays, told), sum(array.nbytes for array in arrays.values())


def observed_of(arrays: Mapping[str, Any], told: Mapping[str, Any]) -> Observed:
    """From the arrays of a file; ValueError where they do not fit each other."""
    observation, action = _space(told["observation_space"]), _space(told["action_space"])
    rewards = arrays["rewards"].ravel()
    count = len(rewards)
    places, flags = whole_numbers(arrays["places"]).reshape(count, 4), arrays["flags"].reshape(count, 2) > 0
    names = [str(name) for name in told["components"]]
    parts = arrays["components"].reshape(count, len(names)) if names else np.zeros((count, 0))
    copies, episodes = places[:, 0], places[:, 1]
    transitions = Transitions(
        observation,
        action,
        arrays["observations"].reshape(count, observation.size),
        arrays["actions"].reshape(count, action.size),
        rewards,
        arrays["next_observations"].reshape(count, observation.size),
        flags[:, 0],
        flags[:, 1],
        copies * 10_000_000 + episodes,
        places[:, 2],
        copies,
        places[:, 3],
        {name: parts[:, at] for at, name in enumerate(names)},
    )
    table = arrays["episodes"]
    ended = len(table) if table.size else 0
    table = table.reshape(ended, 5)
    ends = EpisodeTable(
        table[:, 0],
        table[:, 1],
        table[:, 2] > 0,
        arrays["first"].reshape(ended, observation.size),
        arrays["last"].reshape(ended, observation.size),
        whole_numbers(table[:, 3]),
        table[:, 4],
    )
    steps, odd = (int(number(told[name]) or 0) for name in ("steps", "not_finite"))
    return Observed(str(told["environment"])[:200], _in_order(transitions), ends, steps, odd)


def joined(found: Sequence[Observed]) -> Observed:
    """The records of several processes as one; those of another environment are left out."""
    first = found[0]
    if len(found) == 1:
        return first
    same = [
        one
        for one in found
        if one.transitions.observation_space.size == first.transitions.observation_space.size
        and one.transitions.action_space.size == first.transitions.action_space.size
    ]
    shift = [1000 * at for at in range(len(same))]

    def rows(name: str) -> Any:
        return np.concatenate([getattr(one.transitions, name) for one in same])

    def ends(name: str) -> Any:
        return np.concatenate([getattr(one.episodes, name) for one in same])

    transitions = Transitions(
        first.transitions.observation_space, first.transitions.action_space, rows("observations"), rows("actions"),
        rows("rewards"), rows("next_observations"), rows("terminated"), rows("truncated"),
        np.concatenate([one.transitions.episodes + 10_000_000 * by for one, by in zip(same, shift, strict=True)]),
        rows("times"), np.concatenate([one.transitions.copies + by for one, by in zip(same, shift, strict=True)]),
        rows("clock"),
    )  # fmt: skip
    table = EpisodeTable(
        ends("returns"), ends("lengths"), ends("terminated"), ends("first"), ends("last"),
        np.concatenate([one.episodes.copies + by for one, by in zip(same, shift, strict=True)]), ends("discounted"),
    )  # fmt: skip
    return Observed(
        first.environment, transitions, table, sum(one.steps for one in same), sum(one.not_finite for one in same)
    )


def _in_order(steps: Transitions) -> Transitions:
    """Copy by copy, each in the order of its clock."""
    return steps.chosen(np.lexsort((steps.clock, steps.copies)))


def _space(raw: Mapping[str, Any]) -> Space:
    kind = raw["kind"]
    if kind not in ("box", "discrete", "multi", "image", "other"):
        raise ValueError("an unknown kind of space")
    low, high = (
        np.array([bound if (told := number(value)) is None else told for value in raw[side]], dtype=np.float64)
        for side, bound in (("low", -np.inf), ("high", np.inf))
    )
    if len(low) != len(high) or (low > high).any():
        raise ValueError("bounds that do not fit each other")
    if kind in ("discrete", "multi") and not (np.abs([low, high]) < MOST_COUNTED).all():
        raise ValueError("choices without a bound")
    return Space(kind, low, high, tuple(str(name)[:80] for name in raw["names"]))

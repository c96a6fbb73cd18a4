"""How users name runs: paths, globs, `@last`, `@best`, run ids and unique beginnings of them."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from rlclinic.model.errors import RunReadError, UsageError
from rlclinic.readers.discover import RunRef, find, split_name
from rlclinic.readers.formats.safe_json import load_json_file
from rlclinic.store.index import RunIndex
from rlclinic.store.listing import Listing, list_runs

DEFAULT_ROOT = "runs"
# Files below a folder that is named: more is a disk, not a project.
MOST_FILES = 200_000
# Names that are suggested for one that fits nothing.
MOST_MEANT = 3
NICKNAMES = ("@last", "@best", "@latest-run")
# Where below a root trials keep the runs of their arms, which are no runs that the user started.
TRIALS = "trials"


def resolve(name: str, *, root: Path | None = None, index: RunIndex | None = None) -> list[str]:
    """The paths of the runs that a name stands for, at least one."""
    if not name.strip():
        raise UsageError("the name of the run is empty", hint="name a folder or file, or `.` for the current folder")
    if name.startswith("wandb://"):
        return [name]
    folder, _, last = name.rstrip("/").rpartition("/")
    if last in NICKNAMES:
        return [_nickname(last, Path(folder) if folder else _root(root), index)]
    plain = split_name(name)[0]
    if Path(plain).exists():
        return _of_path(name)
    if any(char in plain for char in "*?["):
        return _of_glob(plain)
    return [_of_id(name, _root(root), index)]


def _of_path(name: str) -> list[str]:
    plain, member = split_name(name)
    path = Path(plain)
    if member or path.is_file():
        return [name]
    if path.resolve() == Path(path.resolve().anchor):
        raise UsageError("the whole disk is not searched for runs", path=name, hint="name the folder that holds them")
    # Runs are looked for first: of a folder that holds too much nothing is opened.
    refs = find(path, MOST_FILES)
    if refs and all(ref.path == path for ref in refs):
        return [replace(refs[0], member="").name]
    return [_loose(ref) if ref.path == path else ref.name for ref in refs] or [name]


def _loose(ref: RunRef) -> str:
    """The one file of a run that lies beside others: its folder is the name of them all."""
    files = [name for name, _, _ in ref.fingerprint if "/" not in name]
    return str(ref.path / files[0]) if len(files) == 1 else ref.name


def _of_glob(pattern: str) -> list[str]:
    matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
    if not matches:
        raise RunReadError("no file or folder fits this pattern", path=pattern, hint="quote it, or check it with ls")
    names = [name for match in matches for name in _of_path(match)]
    return list(dict.fromkeys(names))


def _of_id(name: str, root: Path, index: RunIndex | None) -> str:
    if "/" in name:
        # A path, not an id: no run has to be read to know that it is not there.
        meant = _meant(name, [])
        hint = f"did you mean {meant}?" if meant else "list the runs with `rlclinic runs`"
        raise RunReadError("no such file or folder", path=name, hint=hint)
    listing = list_runs(root, index=index) if root.is_dir() else Listing(str(root))
    pairs = list(zip(listing.refs, listing.summaries, strict=True))
    exact = [ref for ref, summary in pairs if name in (summary["id"], ref.path.name)]
    if len(exact) == 1:
        return exact[0].name
    found = exact or [ref for ref, summary in pairs if str(summary["id"]).startswith(name)]
    if not found:
        meant = _meant(name, [str(summary["id"]) for _, summary in pairs])
        raise RunReadError(
            f"no such file or folder, and no run below {root} has an id that begins so",
            path=name,
            hint=f"did you mean {meant}?" if meant else "list the runs with `rlclinic runs`",
        )
    if len(found) > 1:
        shown = ", ".join(ref.name for ref in found[:4])
        raise UsageError(f"{name!r} fits {len(found)} runs: {shown}", path=name, hint="type more of the id")
    return found[0].name


def _meant(name: str, ids: list[str]) -> str:
    """Ids, and names in the folder that was meant, that are nearly the name."""
    folder, _, last = name.rstrip("/").rpartition("/")
    place = Path(folder or ".")
    try:
        beside = {item.name: str(place / item.name) for item in islice(place.iterdir(), MOST_FILES)}
    except OSError:
        beside = {}
    near = get_close_matches(last, [*beside, *ids], n=MOST_MEANT, cutoff=0.6)
    return " or ".join(dict.fromkeys(beside.get(item, item) for item in near))


def _nickname(nickname: str, root: Path, index: RunIndex | None) -> str:
    if not root.is_dir():
        raise RunReadError(f"{nickname}: there is no folder {root}", path=str(root), hint="name a root: ROOT/@last")
    if nickname != "@best":
        linked = _linked(root, nickname) or _registered(root)
        if linked is not None:
            return str(linked)
    listing = list_runs(root, index=index)
    pairs = list(zip(listing.refs, listing.summaries, strict=True))
    if not pairs:
        raise RunReadError(f"{nickname}: no run below {root}", path=str(root), hint="name a root: ROOT/@last")
    own = [pair for pair in pairs if TRIALS not in pair[0].path.relative_to(root).parts] or pairs
    newest = max(own, key=_newest)
    return (_best(pairs, newest[1]) if nickname == "@best" else newest[0]).name


def _best(pairs: Sequence[tuple[RunRef, dict[str, Any]]], newest: dict[str, Any]) -> RunRef:
    """The run with the highest return among those of the newest run's environment."""
    same = [pair for pair in pairs if pair[1]["environment"] == newest["environment"]]
    scored = [pair for pair in same if pair[1]["return"]["best"] is not None]
    if not scored:
        raise RunReadError("@best: no run has a return to compare", hint="name a run instead")
    return max(scored, key=lambda pair: float(pair[1]["return"]["best"]))[0]


def _newest(pair: tuple[RunRef, dict[str, Any]]) -> float:
    started = pair[1].get("started_at")
    changed = max((changed for _, _, changed in pair[0].fingerprint), default=0) / 1e9
    return float(started) if isinstance(started, int | float) else changed


def _linked(root: Path, nickname: str) -> Path | None:
    """The target of the link; after a move the folder of the same name beside the link."""
    link = root / nickname
    if not link.is_symlink():
        return None
    try:
        target = link.resolve()
    except (OSError, RuntimeError):
        # A link that leads to itself; Python 3.11 and 3.12 raise.
        return None
    if target.is_dir() and target.is_relative_to(root.resolve()):
        return target
    beside = root / str(link.readlink()).replace("\\", "/").rstrip("/").rpartition("/")[2]
    return beside if beside.is_dir() else None


def _registered(root: Path) -> Path | None:
    """gymnasium-solver's registry: newest first."""
    try:
        entries = load_json_file(root / "runs.json")
    except (OSError, ValueError):
        return None
    for entry in entries if isinstance(entries, list) else []:
        name = entry.get("run_id") if isinstance(entry, dict) else None
        if isinstance(name, str) and name and "/" not in name and (root / name).is_dir():
            return root / name
    return None


def _root(root: Path | None) -> Path:
    if root is not None:
        return root
    return Path(DEFAULT_ROOT) if Path(DEFAULT_ROOT).is_dir() else Path()

"""The inputs that mutations begin with: the recorded runs of the tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rlclinic.readers.discover import find

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "tests" / "fixtures" / "runs"

# What a file is, by how its name ends; the first that fits counts.
KINDS = (
    ("tfevents", "events"), (".wandb", "wandb"), ("observed", "observed"), (".npy", "npy"), (".npz", "npz"),
    (".py", "python"), (".zip", "zip"), (".db", "sqlite"),
    (".csv", "csv"), (".tsv", "csv"), ("progress.txt", "csv"), (".jsonl", "jsonl"), ("progress.json", "jsonl"),
    ("result.json", "jsonl"), (".json", "json"), (".ipynb", "json"), (".yaml", "yaml"), (".yml", "yaml"),
)  # fmt: skip

Files = dict[str, bytes]


def kind_of(name: str) -> str:
    """Which mutations fit a file."""
    return next((kind for part, kind in KINDS if part in name.lower()), "log")


@cache
def folders() -> tuple[Files, ...]:
    """Every recorded run as bytes by relative path."""
    found: list[Files] = []
    for ref in find(RUNS):
        base = ref.path if ref.path.is_dir() else ref.path.parent
        # Some readers know a run by the name of its folder, so that is kept.
        found.append({f"{base.name}/{name}": (base / name).read_bytes() for name, _, _ in ref.fingerprint})
    return tuple(found)


@cache
def files() -> dict[str, tuple[bytes, ...]]:
    """The distinct files of the recorded runs by kind."""
    found: dict[str, dict[bytes, None]] = {}
    for folder in folders():
        for name, data in folder.items():
            found.setdefault(kind_of(name), {})[data] = None
    return {kind: tuple(items) for kind, items in sorted(found.items())}

"""Real runs of other people: each is read, and what was read agrees with its label.

The corpus is not part of the repository. Set RLCLINIC_CORPUS to its folder; without it these tests are skipped.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from rlclinic.model.run import Run
from rlclinic.readers.open import read

CORPUS = Path(os.environ.get("RLCLINIC_CORPUS", Path(__file__).parents[2] / "shared" / "corpus"))
LABELS: list[dict[str, Any]] = (
    yaml.safe_load((CORPUS / "labels.yaml").read_text(encoding="utf-8")) if (CORPUS / "labels.yaml").is_file() else []
)

RUNS_IN_CORPUS = 77

pytestmark = pytest.mark.skipif(
    not LABELS, reason=f"{RUNS_IN_CORPUS} labelled runs not checked: no corpus here, set RLCLINIC_CORPUS to its folder"
)

# Facts about a run that its files do not hold, so that no reader can know them.
UNKNOWABLE_ENVIRONMENT = (
    "FlappyBird", "CartPole (Mod", "Acrobot (MuJoCo", "unknown", "modified-lts", "traffic", "CartPole-v0", "gridworld",
    "hotpotqa", "DAPO-Math-17k (supervised)",
)  # fmt: skip
UNKNOWABLE_ALGORITHM = ("none",)
WITHOUT_RETURN = ("insufficient-data", "not-rl", "crashed")


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label["path"][-60:])
def test_a_real_run_is_read_as_labelled(label: dict[str, Any]) -> None:
    run = read(CORPUS / label["path"])
    assert misses(run, label) == []


def misses(run: Run, label: dict[str, Any]) -> list[str]:
    """What the reading gets wrong, in words."""
    found = []
    if run.framework != label["framework"]:
        found.append(f"framework is {run.framework}, not {label['framework']}")
    if "source_format" in label and run.source != label["source_format"]:
        found.append(f"source is {run.source}, not {label['source_format']}")
    algorithm = re.sub(r"\s*\(.*\)", "", label["algorithm"]).upper()
    if not label["algorithm"].startswith(UNKNOWABLE_ALGORITHM) and run.algorithm != algorithm:
        found.append(f"algorithm is {run.algorithm!r}, not {algorithm}")
    environment = re.sub(r"\s*\(.*\)", "", label["environment"])
    if not label["environment"].startswith(UNKNOWABLE_ENVIRONMENT) and not _same(run.environment, environment):
        found.append(f"environment is {run.environment!r}, not {environment}")
    if label["verdict"][0] not in WITHOUT_RETURN and "return-not-logged" not in label["causes"]:
        returns = run.returns
        if returns is None or returns.last is None:
            found.append("no return series")
    if run.status.state.value not in states(label):
        found.append(f"status is {run.status.state.value}, one of {states(label)} expected")
    return found


def states(label: dict[str, Any]) -> set[str]:
    """Which statuses agree with a label."""
    if label["verdict"] == ["crashed"] or "exception" in label["causes"] or "out-of-memory" in label["causes"]:
        return {"crashed"}
    if label["verdict"][0] == "interrupted" or label["causes"][:1] == ["interrupted"]:
        return {"interrupted", "unknown"}
    return {"finished", "interrupted", "unknown"} | ({"crashed"} if "crashed" in label["verdict"] else set())


def _same(found: str, expected: str) -> bool:
    words = [word for word in re.split(r"[^a-z0-9]+", expected.lower()) if word]
    return all(word in found.lower() for word in words) if words else True

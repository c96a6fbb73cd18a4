"""Rank policies from the data alone by fitted Q evaluation, and hold the ranking against what was played."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlclinic.lab.checkpoints import last_checkpoint
from rlclinic.lab.folder import CHECKPOINTS, check_own, open_folder
from rlclinic.lab.offline.backend import MODEL, prepared
from rlclinic.lab.offline.link import Link
from rlclinic.model.errors import UsageError
from rlclinic.model.numbers import number
from rlclinic.readers.formats.safe_json import load_json_file

# Updates of one evaluation, and their rate (Paine 2020, arXiv 2007.09055, rank with a plain Q network too).
STEPS, RATE = 2_000, 1e-3
# Policies below which a correlation of ranks says nothing.
FEWEST = 4
LIMITS = (
    "Fitted Q evaluation ranks policies that stay near the data; of actions that the data do not show it only guesses.",
    "Its values are discounted: compare them with each other, not with returns.",
    "Where a few episodes can be played, play the best two or three of the ranking (Paine 2020, arXiv 2007.09055).",
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """One policy."""

    run: str
    algorithm: str
    value: float
    """By fitted Q evaluation: mean of the states in which episodes of the data begin."""
    played: float | None
    """Mean return of the evaluation at the checkpoint."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Policies, the best first, and how the order agrees with what was played."""

    policies: tuple[Ranked, ...]
    correlation: float | None
    """Of the ranks of values and returns (Spearman); None where fewer than four were played."""
    chance: float | None
    """How often a random order agrees at least so well."""

    def lines(self) -> list[str]:
        """As text."""
        rows = [
            f"{at}. {one.run} ({one.algorithm}): value {one.value:.4g}"
            + (f", played {one.played:.4g}" if one.played is not None else "")
            for at, one in enumerate(self.policies, 1)
        ]
        if self.correlation is None or self.chance is None:
            return [*rows, f"no rank correlation: fewer than {FEWEST} of them were played"]
        told = f"rank correlation with what was played: {self.correlation:.2f} over {len(self.policies)} policies"
        return [*rows, f"{told}; a random order does as well in {100 * self.chance:.0f}% of cases"]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "schema": "rlclinic.offline/1", "policies": [asdict(one) for one in self.policies],
            "rank_correlation": self.correlation, "chance": self.chance, "limits": list(LIMITS),
        }  # fmt: skip


def rank_runs(runs: Sequence[Path], steps: int | None = None, trust: Iterable[str] = ()) -> Ranking:
    """Evaluate the best checkpoint of each run; all must have the same data and the same discount."""
    found: list[Ranked] = []
    basis: set[tuple[str, float]] = set()
    for path in runs:
        folder = open_folder(path)
        check_own(folder.path)
        recipe = folder.recipe(trust)
        saved = last_checkpoint(folder.path)
        if recipe.framework != "d3rlpy" or recipe.algorithm == "DT" or saved is None:
            raise UsageError(
                "has no policy that d3rlpy can evaluate",
                path=str(path),
                hint="a run of cql, iql or td3-bc with a checkpoint",
            )
        options, spaces, data = prepared(recipe)
        basis.add((str(options.value("dataset")), options.number("gamma")))
        if len(basis) > 1:
            raise UsageError(
                "has other data or another discount than those before it", path=str(path), hint="rank like with like"
            )
        best = folder.path / CHECKPOINTS / "@best"
        checkpoint = best.resolve() if best.is_dir() else saved.path
        with Link() as link:
            link.ask(
                "build", algorithm=recipe.algorithm, settings=options.settings(), seed=recipe.seed,
                discrete=spaces.is_discrete, actions=spaces.action_size, data=link.arrays("data", data),
                learned=len(data.rewards), load=str((checkpoint / MODEL).resolve()),
            )  # fmt: skip
            value = link.ask("fqe", steps=steps or STEPS, learning_rate=RATE)["value"]
        metrics = load_json_file(checkpoint / "metrics.json")
        played = number(metrics.get("val/roll/ep_rew/mean")) if isinstance(metrics, dict) else None
        found.append(Ranked(folder.id, recipe.algorithm, float(value), played))
    ordered = tuple(sorted(found, key=lambda one: -one.value))
    return Ranking(ordered, *agreement(ordered))


def agreement(policies: Sequence[Ranked]) -> tuple[float | None, float | None]:
    """Rank correlation of values and returns, and how often chance does as well; None where too few were played."""
    played = [one for one in policies if one.played is not None]
    if len(played) < FEWEST:
        return None, None
    from scipy.stats import rankdata

    values = rankdata([one.value for one in played])
    returns = rankdata([one.played for one in played])
    if np.ptp(values) == 0 or np.ptp(returns) == 0:
        return None, None
    found = float(np.corrcoef(values, returns)[0, 1])
    random = np.random.default_rng(0)
    orders = [float(np.corrcoef(random.permutation(values), returns)[0, 1]) for _ in range(2_000)]
    return found, float(np.mean(np.asarray(orders) >= found - 1e-12))

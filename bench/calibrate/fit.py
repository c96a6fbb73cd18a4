"""Fit the shared numbers of the table of causes: `python -m bench.calibrate.fit [FOLDER …]`.

The weights set by hand stay. Fitted are a multiplier per kind of evidence, the intercepts of `nothing-wrong`,
`unknown`, `implementation-bug` and `budget-too-small`, and a temperature with and without a config, by the likelihood
summed over accepted causes, with every repository weighing one. Repositories are left out in turn, and the penalty is
chosen without them. The fit is worth keeping only where its log loss beats the table by hand there.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from bench.corpus import DEFAULT, HARMLESS, HEALTHY, labels
from rlclinic.causes.weights import weights
from rlclinic.model.series import FloatArray

KINDS = ("finding", "absence", "trouble", "standing", "setting", "distance")
INTERCEPTS = ("nothing-wrong", "unknown", "implementation-bug", "budget-too-small")
PENALTIES = (1.0, 3.0, 10.0)
FINE = frozenset(HARMLESS - {"unknown"})
DRAWS = 2000
SURE = 0.5
NOISE_COLUMNS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One labelled run: what the table says of every cause, by kind of evidence."""

    group: str
    has_config: bool
    sharpness: float
    healthy: bool
    causes: tuple[str, ...]
    prior: FloatArray
    pieces: FloatArray
    """Causes by kinds, as the table has them before multipliers."""
    accepted: FloatArray
    """1 for accepted causes."""


def sample(diagnosis: Any, group: str, accepted: frozenset[str], *, healthy: bool) -> Sample | None:
    """The pieces of a diagnosis; None where no accepted cause is in question."""
    table, found = weights(), diagnosis.explanations
    causes, has_config = tuple(found), bool(diagnosis.run.config.settings)
    sharp = found[causes[0]].sharpness
    prior = np.array([sum(p.value for p in found[c].pieces if p.kind == "prior") / sharp for c in causes])
    pieces = np.array(
        [[sum(p.value for p in found[c].pieces if p.kind == k) / sharp / table.scale[k] for k in KINDS] for c in causes]
    )
    right = np.array([float(cause in accepted) for cause in causes])
    return Sample(group, has_config, sharp, healthy, causes, prior, pieces, right) if right.any() else None


def corpus_samples(folder: Path) -> list[Sample]:
    """Labelled runs of other people: those that are healthy, and those whose cause is known."""
    from rlclinic.engine import diagnose
    from rlclinic.model.errors import RlclinicError
    from rlclinic.readers.open import read

    found = []
    for label in labels(folder):
        healthy = label["verdict"][0] in HEALTHY
        accepted = frozenset(label["causes"]) | (FINE if healthy else frozenset())
        try:
            one = sample(diagnose(read(folder / label["path"])), "/".join(label["path"].split("/")[:2]), accepted,
                         healthy=healthy) if accepted else None  # fmt: skip
        except RlclinicError:
            continue
        found += [one] if one is not None else []
    return found


def start() -> FloatArray:
    """Parameters that leave the table as it is: log multipliers, intercepts, log temperatures."""
    return np.zeros(len(KINDS) + len(INTERCEPTS) + 2)


def probabilities(one: Sample, parameters: FloatArray, beside: FloatArray | float = 0.0) -> FloatArray:
    """Of each cause; `beside` is evidence that is not the table's."""
    table = weights()
    scale = np.array([table.scale[kind] for kind in KINDS]) * np.exp(parameters[: len(KINDS)])
    shift = dict(zip(INTERCEPTS, parameters[len(KINDS) :], strict=False))
    sharp = one.sharpness * math.exp(parameters[-2] if one.has_config else parameters[-1])
    shifts = np.array([shift.get(cause, 0.0) for cause in one.causes])
    score = sharp * (one.prior + shifts + one.pieces @ scale + beside)
    score -= score.max()
    found: FloatArray = np.exp(score) / np.exp(score).sum()
    return found


def losses(samples: Sequence[Sample], parameters: FloatArray) -> FloatArray:
    """Minus the logarithm of the probability that accepted causes have together."""
    return np.array([-math.log(max(float(probabilities(s, parameters) @ s.accepted), 1e-9)) for s in samples])


def losses_of_priors(samples: Sequence[Sample]) -> FloatArray:
    """The same where nothing is known of a run: what a table that learned nothing from labels comes to."""
    bare = [replace(one, pieces=np.zeros_like(one.pieces)) for one in samples]
    return losses(bare, start())


def evenly(samples: Sequence[Sample]) -> FloatArray:
    """Weights with which every group counts one."""
    counts: dict[str, int] = {}
    for one in samples:
        counts[one.group] = counts.get(one.group, 0) + 1
    weight = np.array([1.0 / counts[one.group] for one in samples])
    return weight / weight.sum()


def fitted(samples: Sequence[Sample], penalty: float) -> FloatArray:
    """The parameters with the least penalised loss."""
    weight = evenly(samples)

    def loss(parameters: FloatArray) -> float:
        return float(weight @ losses(samples, parameters)) + penalty / len(samples) * float(parameters @ parameters)

    found: FloatArray = minimize(loss, start(), method="L-BFGS-B", bounds=[(-1.5, 1.5)] * start().size).x
    return found


def chosen(samples: Sequence[Sample], folds: int = 3) -> FloatArray:
    """Fitted with the penalty that does best on groups left out."""
    groups = sorted({one.group for one in samples})
    scores = []
    for penalty in PENALTIES:
        total = 0.0
        for fold in range(folds):
            out = set(groups[fold::folds])
            inside, outside = [s for s in samples if s.group not in out], [s for s in samples if s.group in out]
            total += float(losses(outside, fitted(inside, penalty)).sum())
        scores.append(total)
    return fitted(samples, PENALTIES[int(np.argmin(scores))])


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """What the table by hand and numbers fitted to other groups come to, run by run."""

    losses: FloatArray
    """A row by hand and one fitted, as all of these."""
    accused: FloatArray
    right: FloatArray
    """Whether an accepted cause leads."""

    @property
    def gain(self) -> FloatArray:
        """How much less the fitted numbers lose."""
        found: FloatArray = self.losses[0] - self.losses[1]
        return found


def left_out(samples: Sequence[Sample], folds: int = 5) -> LeftOut:
    """Fit to all groups but those of a fold, in turn."""
    groups = sorted({one.group for one in samples})
    shape = (2, len(samples))
    found = LeftOut(np.zeros(shape), np.zeros(shape), np.zeros(shape))
    for fold in range(folds):
        out = set(groups[fold::folds])
        parameters = chosen([s for s in samples if s.group not in out])
        for place, one in enumerate(samples):
            if one.group in out:
                for how, values in enumerate((start(), parameters)):
                    found.losses[how, place] = losses([one], values)[0]
                    found.accused[how, place] = _accused(one, values)
                    found.right[how, place] = one.accepted[int(probabilities(one, values).argmax())]
    return found


def tried(samples: Sequence[Sample], others: Sequence[Sample]) -> str:
    """What numbers fitted to some repositories come to on others."""
    parameters = fitted(samples, PENALTIES[-1])
    by_hand, by_fit = losses(others, start()), losses(others, parameters)
    mean, low, high = interval(others, by_hand - by_fit)
    accused = [sum(_accused(one, values) for one in others) for values in (start(), parameters)]
    mixed = shuffled(others)
    return (
        f"{len(others)} runs of others: log loss by hand {by_hand.mean():.3f}, fitted {by_fit.mean():.3f}, gain "
        f"{mean:.3f} ({low:.3f} to {high:.3f}); priors alone {losses_of_priors(others).mean():.3f}; healthy runs "
        f"accused {accused[0]:.0f}, fitted {accused[1]:.0f}; shuffled labels: priors "
        f"{losses_of_priors(mixed).mean():.3f}, by hand {losses(mixed, start()).mean():.3f}"
    )


def shuffled(samples: Sequence[Sample]) -> list[Sample]:
    """Every run with the labels of another."""
    order = np.random.default_rng(1).permutation(len(samples))
    found = (_with_labels(one, samples[other]) for one, other in zip(samples, order, strict=True))
    return [one for one in found if one.accepted.any()]


def weight_of_noise(samples: Sequence[Sample], parameters: FloatArray, penalty: float, seed: int) -> float:
    """What a column of random evidence is given beside fitted numbers: near 0 where the fit does not take up noise."""
    rng, even = np.random.default_rng(seed), evenly(samples)
    noise = [rng.standard_normal(len(one.causes)) for one in samples]

    def loss(weight: float) -> float:
        right = [
            float(probabilities(one, parameters, weight * column) @ one.accepted)
            for one, column in zip(samples, noise, strict=True)
        ]
        return float(even @ -np.log(np.maximum(right, 1e-9))) + penalty / len(samples) * weight * weight

    return float(minimize_scalar(loss, bounds=(-1.5, 1.5), method="bounded").x)


def _accused(one: Sample, parameters: FloatArray) -> float:
    found = probabilities(one, parameters)
    wrong = [p for p, cause in zip(found, one.causes, strict=True) if cause not in HARMLESS]
    return float(one.healthy and max(wrong, default=0.0) >= SURE and not one.accepted[int(found.argmax())])


def interval(samples: Sequence[Sample], gain: FloatArray) -> tuple[float, float, float]:
    """Mean gain with every group weighing one, and its 95% interval with groups drawn again."""
    groups = sorted({one.group for one in samples})
    means = np.array([gain[[s.group == group for s in samples]].mean() for group in groups])
    drawn = means[np.random.default_rng(0).integers(0, means.size, (DRAWS, means.size))].mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(means.mean()), float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.calibrate.fit", description=__doc__)
    parser.add_argument("folders", nargs="*", default=DEFAULT)
    parser.add_argument("--try", dest="others", nargs="*", default=[], help="only: fit, and try the fit on these")
    options = parser.parse_args()
    samples = [one for folder in options.folders for one in corpus_samples(Path(folder))]
    if options.others:
        print(tried(samples, [one for folder in options.others for one in corpus_samples(Path(folder))]))
        return
    print(f"{len(samples)} labelled runs of {len({one.group for one in samples})} repositories")
    found = left_out(samples)
    (by_hand, by_fit), (mean, low, high) = found.losses.mean(axis=1), interval(samples, found.gain)
    print(f"log loss by hand {by_hand:.3f}, fitted and left out {by_fit:.3f}; gain {mean:.3f}, "
          f"95% interval {low:.3f} to {high:.3f}")  # fmt: skip
    healthy = np.array([one.healthy for one in samples])
    for title, hits, of in (
        ("healthy runs accused", found.accused, healthy),
        ("right cause first, healthy runs", found.right, healthy),
        ("right cause first, other runs whose cause is known", found.right, ~healthy),
    ):
        print(f"{title}: by hand {hits[0][of].sum():.0f}, fitted {hits[1][of].sum():.0f} of {of.sum()}")
    kept = shuffled(samples)
    print(f"priors alone {losses_of_priors(samples).mean():.3f}; shuffled labels: priors "
          f"{losses_of_priors(kept).mean():.3f}, by hand {losses(kept, start()).mean():.3f}, fitted and left out "
          f"{left_out(kept).losses[1].mean():.3f}")  # fmt: skip
    final = chosen(samples)
    given = [weight_of_noise(samples, final, PENALTIES[-1], seed) for seed in range(NOISE_COLUMNS)]
    print(f"columns of random evidence: weights {min(given):+.2f} to {max(given):+.2f}, mean {np.mean(given):+.2f}")
    for name, value in zip((*KINDS, *INTERCEPTS, "with_config", "without_config"), final, strict=True):
        how = f"{value:+.2f}" if name in INTERCEPTS else f"x {math.exp(value):.2f}"
        print(f"  {name:22s} {how}")


def _with_labels(one: Sample, other: Sample) -> Sample:
    right = {cause for cause, is_right in zip(other.causes, other.accepted, strict=True) if is_right}
    accepted = np.array([float(cause in right) for cause in one.causes])
    return replace(one, accepted=accepted)


if __name__ == "__main__":
    main()

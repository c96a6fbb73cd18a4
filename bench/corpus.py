"""How right rlclinic is on labelled runs of other people: `python -m bench.corpus [FOLDER …]`.

A folder holds labels.yaml: for each run its path, acceptable verdicts and causes, what must not be said, and the
labeller's confidence. One line per run, then the shares. Runs of one repository resemble each other, so every share
is also given with each repository weighing one, and with an interval from drawing repositories again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from rlclinic.model.run import Run

DEFAULT = os.environ.get("RLCLINIC_CORPUS", "../shared/corpus:../shared/corpus2").split(":")
HEALTHY = frozenset({"solved", "learning"})
FAILED = frozenset({"not-learning", "collapsed", "unstable", "crashed", "misconfigured", "reward-hacking"})
# Causes that say that nothing needs to change.
HARMLESS = frozenset({"nothing-wrong", "already-solved", "unknown"})
SURE, CERTAIN = 0.5, 0.9
DRAWS = 2000
WIDTH = 44


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said of a run beside what may be said."""

    name: str
    repository: str
    verdicts: list[str]
    accepted: list[str]
    must_not: list[str]
    high: bool
    verdict: str
    causes: list[tuple[str, float]]
    findings: list[str]

    @property
    def read(self) -> bool:
        return self.verdict != "unread"

    @property
    def acceptable(self) -> bool:
        return self.verdict in self.verdicts

    @property
    def mistake(self) -> bool:
        """Whether it says what the label calls a clear mistake."""
        named = {cause for place, (cause, share) in enumerate(self.causes) if place == 0 or share >= SURE}
        return self.verdict in self.must_not or bool(named & set(self.must_not))

    @property
    def failed(self) -> bool:
        """Whether the run clearly failed and its cause is known."""
        return self.verdicts[0] in FAILED and bool(self.accepted)

    @property
    def healthy(self) -> bool:
        return self.verdicts[0] in HEALTHY

    @property
    def accused(self) -> bool:
        wrong = (cause for cause, share in self.causes if share >= SURE and cause not in HARMLESS)
        return self.healthy and any(cause not in self.accepted for cause in wrong)

    def named(self, first: int) -> bool:
        """Whether an accepted cause is among the first."""
        return any(cause in self.accepted for cause, _ in self.causes[:first])

    @property
    def leads(self) -> tuple[str, float]:
        return self.causes[0] if self.causes else ("", 0.0)

    @property
    def points(self) -> int:
        """1 for a right cause first, 0 for `unknown`, -1 for a wrong one."""
        return 1 if self.named(1) else 0 if self.leads[0] in {"unknown", ""} else -1


Share = Callable[[Answer], bool]
SHARES: tuple[tuple[str, Share, Share], ...] = (
    ("read", lambda a: True, lambda a: a.read),
    ("acceptable verdict", lambda a: True, lambda a: a.acceptable),
    ("acceptable verdict, high confidence", lambda a: a.high, lambda a: a.acceptable),
    ("clear mistakes", lambda a: True, lambda a: a.mistake),
    ("false accusations of healthy runs", lambda a: a.healthy, lambda a: a.accused),
    ("right cause first, failed runs", lambda a: a.failed, lambda a: a.named(1)),
    ("right cause in three, failed runs", lambda a: a.failed, lambda a: a.named(3)),
    ("nothing-wrong first on a failure", lambda a: a.failed, lambda a: a.leads[0] == "nothing-wrong"),
    ("unknown first on a failure", lambda a: a.failed, lambda a: a.leads[0] == "unknown"),
    ("unknown first on a healthy run", lambda a: a.healthy, lambda a: a.leads[0] == "unknown"),
    ("right where 0.9 or more is said", lambda a: _certain(a), lambda a: a.named(1) or _fine(a)),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.corpus", description=__doc__)
    parser.add_argument("folders", nargs="*", default=DEFAULT)
    parser.add_argument("--save", type=Path, help="write the answers as JSON lines")
    parser.add_argument("--wrong", action="store_true", help="only the lines of runs with something wrong")
    options = parser.parse_args()
    every: list[Answer] = []
    for folder in map(Path, options.folders):
        answers = [answered(folder, label) for label in labels(folder)]
        every += answers
        print(f"== {folder.name}: {len(answers)} runs of {len({a.repository for a in answers})} repositories")
        for answer in answers:
            if not options.wrong or marks(answer).strip():
                print(_line(answer))
        print(report(answers))
    if len(options.folders) > 1:
        print(f"== all\n{report(every)}")
    if options.save:
        options.save.write_text("".join(json.dumps(asdict(answer)) + "\n" for answer in every), encoding="utf-8")


def labels(folder: Path) -> list[dict[str, Any]]:
    """The labels of a folder."""
    found: list[dict[str, Any]] = yaml.safe_load((folder / "labels.yaml").read_text(encoding="utf-8"))
    return found


def answered(folder: Path, label: dict[str, Any]) -> Answer:
    """Read and diagnose a labelled run."""
    from rlclinic.model.errors import RlclinicError
    from rlclinic.readers.open import read

    known = known_of(label)
    try:
        return answer_of(read(folder / label["path"]), known)
    except RlclinicError as error:
        return Answer(**known, verdict="unread", causes=[], findings=[error.message])


def known_of(label: dict[str, Any]) -> dict[str, Any]:
    """The fields of an answer that the label gives."""
    return {
        "name": label["path"],
        "repository": "/".join(label["path"].split("/")[:2]),
        "verdicts": label["verdict"],
        "accepted": label["causes"],
        "must_not": label.get("must_not") or [],
        "high": label["confidence"] == "high",
    }


def answer_of(run: Run, known: dict[str, Any]) -> Answer:
    """Diagnose a run of which so much is known."""
    from rlclinic.engine import diagnose

    told = diagnose(run)
    causes = [(cause.id, cause.probability) for cause in told.causes]
    codes = [finding.code for finding in told.findings if finding.severity.rank > 0]
    return Answer(**known, verdict=told.verdict.value, causes=causes, findings=codes)


def report(answers: Sequence[Answer]) -> str:
    """The shares of a set of answers as a table."""
    lines = [f"{'':38s} {'count':>10s}  by run  by repository  95% interval"]
    for title, of, is_so in SHARES:
        group = [answer for answer in answers if of(answer)]
        hits = sum(map(is_so, group))
        if not group:
            continue
        low, high, even = _by_repository(group, is_so)
        lines.append(f"{title:38s} {hits:4d} of {len(group):3d}  {hits / len(group):5.2f}   {even:8.2f}       "
                     f"{low:.2f} to {high:.2f}")  # fmt: skip
    failed = [answer for answer in answers if answer.failed]
    if failed:
        lines.append(f"score on failed runs (right 1, unknown 0, wrong -1): {sum(a.points for a in failed)}")
        lines.append(f"risk at coverage: {_risk(failed)}")
    return "\n".join(lines) + "\n"


def _by_repository(group: Sequence[Answer], is_so: Share) -> tuple[float, float, float]:
    """An interval of the share with repositories drawn again, and the share with each repository weighing one."""
    clusters: dict[str, list[bool]] = {}
    for answer in group:
        clusters.setdefault(answer.repository, []).append(is_so(answer))
    hits = np.array([sum(found) for found in clusters.values()], dtype=float)
    sizes = np.array([len(found) for found in clusters.values()], dtype=float)
    drawn = np.random.default_rng(0).integers(0, hits.size, (DRAWS, hits.size))
    low, high = np.quantile(hits[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), (0.025, 0.975))
    return float(low), float(high), float((hits / sizes).mean())


def _risk(failed: Iterable[Answer]) -> str:
    """Share of wrong leading causes among the surest, at several coverages."""
    named = sorted((a for a in failed if a.leads[0] not in {"unknown", ""}), key=lambda a: -a.leads[1])
    total = len(list(failed))
    told = []
    for share in (0.25, 0.5, 0.75, 1.0):
        kept = named[: round(share * total)]
        if kept and (share < 1.0 or len(kept) == len(named)):
            wrong = sum(not a.named(1) for a in kept)
            told.append(f"{len(kept) / total:.2f}: {wrong / len(kept):.2f}")
    return ", ".join(dict.fromkeys(told))


def _certain(answer: Answer) -> bool:
    return answer.leads[1] >= CERTAIN and (answer.failed or answer.healthy)


def _fine(answer: Answer) -> bool:
    return answer.healthy and answer.leads[0] in {"nothing-wrong", "already-solved"}


def marks(answer: Answer) -> str:
    """V verdict, M clear mistake, C cause not among three, 1 not first, N nothing-wrong on a failure, F accusation."""
    return "".join(
        mark if wrong else " "
        for mark, wrong in (
            ("V", not answer.acceptable),
            ("M", answer.mistake),
            ("C", answer.failed and not answer.named(3)),
            ("1", answer.failed and answer.named(3) and not answer.named(1)),
            ("N", answer.failed and answer.leads[0] == "nothing-wrong"),
            ("F", answer.accused),
        )
    )


def _line(answer: Answer) -> str:
    name = re.sub(r"^([^/]+)/.*?([^/]{1,28})$", r"\1/\2", answer.name)[-WIDTH:]
    top = ", ".join(f"{cause} {share:.2f}" for cause, share in answer.causes[:3])
    return (
        f"{name:{WIDTH}s} {marks(answer)} {answer.verdict:17s} | {','.join(answer.verdicts)} | {top} | "
        f"{','.join(answer.accepted)} | {' '.join(answer.findings)}"
    )


if __name__ == "__main__":
    main()

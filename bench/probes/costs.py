"""What a recording will cost, told from what was recorded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import mean

from bench.probes import store
from bench.probes.score import portrait_of
from bench.probes.subjects import Subject
from rlclinic.probes.ladder import LADDER
from rlclinic.probes.portrait import why_not

UNKNOWN_SECONDS = 3.0
"""CPU of a case that no subject with this trainer has run."""


def most_seconds(subjects: Iterable[Subject], record: store.Rows) -> float:
    """CPU seconds if every case that is missing has to be run; a mutant that is killed early costs less."""
    spent: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for (name, code, case_name), row in record.items():
        spent[name.partition("+")[0], code, case_name].append(row["cpu_seconds"])
    total = 0.0
    for subject in subjects:
        portrait = portrait_of(subject.trainer)
        for probe in LADDER:
            for case in probe.cases:
                if not why_not(case, portrait) and (subject.name, probe.code, case.name) not in record:
                    total += mean(spent.get((subject.trainer, probe.code, case.name), [UNKNOWN_SECONDS]))
    return total

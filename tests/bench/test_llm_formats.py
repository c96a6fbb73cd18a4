"""A recorded language-model run gets the same answer through TRL's file and through each of verl's own loggers."""

from __future__ import annotations

import pytest
from bench.faults.shards import records
from bench.llm.in_verl import FOLDER as IN_VERL
from bench.llm.in_verl import as_sparse
from bench.llm.record import FOLDER
from bench.llm.score import said

CHOSEN = {
    "healthy-copy-0": "train.log",
    "rate-high-reverse-0": "train.jsonl",
    "kl-strong-add-0": "tfevents",
    "wrong-reference-reverse-0": "train.log",
}


@pytest.mark.parametrize("name", CHOSEN)
def test_the_leading_cause_is_the_same(name: str) -> None:
    by_trl = next(record for record in records(FOLDER) if record.name == name)
    by_verl = next(record for record in records(IN_VERL) if record.name == name)
    assert any(CHOSEN[name] in file for file in by_verl.files)
    (verdict, causes), (expected, others) = said(by_verl), said(as_sparse(by_trl))
    assert (verdict, causes[0][0]) == (expected, others[0][0])
    assert causes[0][1] == pytest.approx(others[0][1], abs=0.1)

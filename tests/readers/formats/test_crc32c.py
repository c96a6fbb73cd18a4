"""The checksum of TFRecord files."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.tensorboard.crc32c import crc32c, crc32c_spans, crc_terms, masked, unmasked
from tests.readers.formats.event_writer import crc32c as bitwise

# Published answers: RFC 3720 appendix B.4, and the check value of the Castagnoli polynomial.
ANSWERS = {
    b"123456789": 0xE3069283,
    bytes(32): 0x8A9136AA,
    b"\xff" * 32: 0x62A8AB43,
    bytes(range(32)): 0x46DD794E,
    b"": 0,
}


def test_published_answers_are_met() -> None:
    assert {data: crc32c(data) for data in ANSWERS} == ANSWERS


def test_published_answers_are_met_by_spans() -> None:
    data = b"".join(ANSWERS)
    lengths = np.array([len(part) for part in ANSWERS])
    spans = crc32c_spans(np.frombuffer(data, np.uint8), np.cumsum(lengths) - lengths, lengths)
    assert spans.tolist() == list(ANSWERS.values())


@settings(derandomize=True, max_examples=60)
@given(st.binary(max_size=700), st.lists(st.tuples(st.integers(0, 700), st.integers(0, 700)), max_size=8))
def test_spans_have_the_checksum_of_their_bytes(data: bytes, pairs: list[tuple[int, int]]) -> None:
    spans = [sorted((min(a, len(data)), min(b, len(data)))) for a, b in pairs]
    starts = np.array([start for start, _ in spans], np.int64)
    ends = np.array([end for _, end in spans], np.int64)
    found = crc32c_spans(np.frombuffer(data, np.uint8), starts, ends - starts)
    assert found.tolist() == [bitwise(data[start:end]) for start, end in spans]


def test_a_span_far_longer_than_a_block_has_the_checksum_of_its_bytes() -> None:
    data = np.random.default_rng(0).integers(0, 256, 300_001).astype(np.uint8)
    starts, lengths = np.array([0, 1, 299_990]), np.array([300_001, 65_537, 11])
    expected = [crc32c(data[a : a + n].tobytes()) for a, n in zip(starts, lengths, strict=True)]
    assert crc32c_spans(data, starts, lengths).tolist() == expected


@settings(derandomize=True, max_examples=60)
@given(st.binary(min_size=1, max_size=90), st.data())
def test_a_changed_byte_changes_the_checksum_by_its_term(data: bytes, draw: st.DataObject) -> None:
    place = draw.draw(st.integers(0, len(data) - 1))
    change = draw.draw(st.integers(0, 255))
    changed = data[:place] + bytes([data[place] ^ change]) + data[place + 1 :]
    term = crc_terms(np.array([change], np.uint8), len(data) - 1 - place)
    assert bitwise(data) ^ int(term[0]) == bitwise(changed)


@settings(derandomize=True, max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_unmasking_undoes_masking(crc: int) -> None:
    assert unmasked(np.array([masked(crc)], np.uint32)).tolist() == [crc]

"""Responses of a language model as its training logged them, and what a look at many of them shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from rlclinic.model.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """One response. Texts come from a log: they are redacted, and never an instruction."""

    prompt: str
    response: str
    reward: float | None
    step: float | None
    where: str
    """File and line."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Further numbers of the row, such as reward components."""


@dataclass(frozen=True, slots=True)
class SampleRemark:
    """Something that many responses show, with some of them."""

    name: str
    text: str
    share: float
    """Of all responses; for a correlation its size."""
    rows: tuple[Sample, ...] = ()


@dataclass(frozen=True, slots=True)
class SampleReview:
    """A look at the responses of a run."""

    count: int
    files: tuple[str, ...]
    steps: tuple[float, float] | None
    mean_reward: float | None
    mean_words: float
    remarks: tuple[SampleRemark, ...]
    notes: tuple[str, ...] = ()

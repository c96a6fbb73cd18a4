"""Why a cause is as likely as it is: the pieces of evidence that sum to the logarithm of its probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["finding", "absence", "trouble", "standing", "setting", "distance"]
"""What a piece is about: a finding or the verdict, an expected finding that is missing, signs of trouble, how the run
stands against its goal, a setting, the distance from runs that are known."""


class Piece(NamedTuple):
    """One piece of evidence for (positive) or against a cause, in natural-log units."""

    kind: Kind | Literal["prior", "all causes", "doubt"]
    text: str
    value: float

    def times(self, factor: float) -> Piece:
        """The same piece, counting more or less."""
        return Piece(self.kind, self.text, factor * self.value)


@dataclass(frozen=True, slots=True)
class Explanation:
    """One cause's probability, in pieces."""

    cause: str
    probability: float
    pieces: tuple[Piece, ...] = ()
    """Their values sum to ln(probability); none where the cause is out of the question."""

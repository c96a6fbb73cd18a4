"""Why a cause is as likely as it is: the pieces of evidence that sum to the logarithm of its probability."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["finding", "absence", "trouble", "standing", "setting", "distance"]
"""What a piece is about: a finding or the verdict, an expected finding that is missing, signs of trouble, how the run
stands against its goal, a setting, the distance from runs that are known."""


PRIOR, REST = "how often it is so", "so that all causes sum to 1"
DOUBT = "ended on its way, and no goal says whether that was enough"
SEEDS = "other seeds of the same config that ended alike, all weighing one"


class Piece(NamedTuple):
    """One piece of evidence for (positive) or against a cause, in natural-log units."""

    kind: Kind | Literal["prior", "all causes", "doubt", "seeds"]
    text: str
    value: float

    def times(self, factor: float) -> Piece:
        """The same piece, counting more or less."""
        return Piece(self.kind, self.text, factor * self.value)


class Explanation(NamedTuple):
    """One cause's probability, and what it is made of: all in natural-log units."""

    cause: str
    probability: float
    prior: float = 0.0
    evidence: tuple[Piece, ...] = ()
    sharpness: float = 1.0
    """By which prior and evidence are multiplied."""
    rest: float = 0.0
    """What makes all causes sum to 1."""
    doubt: float = 0.0
    seeds: float = 0.0
    """What pooling with other seeds of the same config changes."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Their values sum to ln(probability); none where the cause is out of the question."""
        if not self.rest:
            return ()
        found = [piece.times(self.sharpness) for piece in (Piece("prior", PRIOR, self.prior), *self.evidence)]
        found += [Piece("all causes", REST, self.rest)]
        beside = (Piece("doubt", DOUBT, self.doubt), Piece("seeds", SEEDS, self.seeds))
        return (*found, *(piece for piece in beside if piece.value))

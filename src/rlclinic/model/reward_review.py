"""What a reward function pays for answers whose worth is known."""

from __future__ import annotations

from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Payment:
    """One kind of answer: how often it is paid, and an example."""

    kind: str
    """gold, wrong, empty, truncated, format-only, repeated, or the name of an exploit."""
    tried: int
    paid: int
    """How often it earns at least half of what the right answer does."""
    mean: float | None
    """None where no call returned a number."""
    example: str
    problem: str = ""
    """What went wrong in a call, if anything."""


@dataclass(frozen=True, slots=True)
class RewardRemark:
    """Something about the function that training would run into."""

    severity: Severity
    text: str


@dataclass(frozen=True, slots=True)
class RewardReview:
    """A look at a reward function."""

    function: str
    problems: int
    """Prompts with a known answer that it was tried on."""
    style: str
    """The form of the right answer that is paid best."""
    gold: float | None
    payments: tuple[Payment, ...]
    remarks: tuple[RewardRemark, ...]

    @property
    def is_sound(self) -> bool:
        return not any(remark.severity is Severity.ERROR for remark in self.remarks)

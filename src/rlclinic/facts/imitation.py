"""How an imitator stands: below its expert or not, and how it agrees with it on which states."""

from __future__ import annotations

from rlclinic.facts.goal import goal_of
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.model.lazy_dataclass import dataclass

# Share of a run's rounds at its end over which a level is taken, and of its evaluations, which may still rise.
LATE, LAST = 0.34, 0.2


@dataclass(frozen=True, slots=True)
class Imitation:
    """Levels of the last rounds; None where they were not logged."""

    short: bool
    """Whether its evaluations end below the goal, which is most of the way to the expert."""
    final: float
    """Where the curve of its evaluations ends."""
    goal: float
    disagreement: float | None
    """Distance from the expert on states that the imitator visits by itself, from 0 to 1."""
    disagreement_data: float | None
    """The same on labelled states that were held out."""
    inconsistency: float | None
    """Distance between two labels of the same state."""
    label_spread: float | None
    """Distance between labels of neighbouring states, as a share of that of any two."""
    shift: float | None
    """How well a classifier tells own states from those of the data: 0.5 is not at all."""

    @property
    def told(self) -> str:
        """How it ended, in words."""
        return f"the evaluations end at {self.final:.4g}, the goal is {self.goal:.4g}"


@fact
def imitation_of(facts: RunFacts) -> Imitation | None:
    """How the imitator stands; None for other runs and where nothing says what it was to reach."""
    level, curve, goal = facts.late("return/eval", LAST), facts.curves.get("return/eval"), goal_of(facts)
    if not facts.is_imitation or level is None or curve is None or goal is None:
        return None

    def late(name: str) -> float | None:
        found = facts.late(f"imitation/{name}", LATE)
        return None if found is None else found.value

    return Imitation(
        level.value < goal.level, curve.final, goal.level, late("disagreement"), late("disagreement_data"),
        late("inconsistency"), late("label_spread"), late("shift"),
    )  # fmt: skip

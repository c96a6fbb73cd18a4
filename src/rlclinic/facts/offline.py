"""Whether a run learned from a fixed data set instead of an environment, and how it stands to its data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlclinic.facts.goal import goal_of
from rlclinic.facts.run_facts import RunFacts, fact

ALGORITHMS = frozenset(
    {"CQL", "DISCRETECQL", "IQL", "AWAC", "BCQ", "DISCRETEBCQ", "BEAR", "CRR", "TD3PLUSBC", "MARWIL", "DT"}
)
# Share of a run's points at its end over which a level is taken.
LATE = 0.25


def is_offline(facts: RunFacts) -> bool:
    """Told by the algorithm, or by a run that counts updates and has evaluations but no training return."""
    run = facts.run
    if run.algorithm.upper() in ALGORITHMS:
        return True
    if facts.is_language_model or facts.series("return/eval") is None or facts.series("return/train") is not None:
        return False
    never_defined = "return/train" in run
    return never_defined or (run.step_axis == "updates" and facts.is_off_policy)


@dataclass(frozen=True, slots=True)
class Offline:
    """Levels at the end of a run on recorded steps."""

    short: bool
    """Whether its evaluations end below the goal."""
    final: float
    goal: float
    data_return: float
    """Mean return of the episodes in the data, and of the better half of the steps."""
    data_best: float
    value_low: float
    """What the rewards in the data allow, at least and at most."""
    value_high: float
    q: float | None
    """Mean value of steps in the data, and of the policy's own actions in their states."""
    q_policy: float | None
    actions_outside: float | None
    """Share of the policy's actions, and of the states that it visits, that the data do not show."""
    states_outside: float | None
    distance: float | None
    """Of the policy's actions from those of the data, and the same when it was nearest to them."""
    nearest: float | None

    @property
    def told(self) -> str:
        """How it ended, in words."""
        return f"the evaluations end at {self.final:.4g}, the goal is {self.goal:.4g}"

    @property
    def share_of_best(self) -> float | None:
        """Where the end lies between the mean of the data, 0, and their better half, 1; None where these are one."""
        way = self.data_best - self.data_return
        return (self.final - self.data_return) / way if way > 1e-9 * max(abs(self.data_best), 1.0) else None


@fact
def offline_of(facts: RunFacts) -> Offline | None:
    """How the run stands to its data; None for other runs, and where nothing says what the data hold."""
    curve, goal = facts.curves.get("return/eval"), goal_of(facts)

    def late(name: str) -> float | None:
        found = facts.late(name, LATE)
        return None if found is None else found.value

    apart = facts.series("offline/action_distance")
    mean, better = late("offline/data_return"), late("offline/data_best")
    low, high, level = late("offline/value_low"), late("offline/value_high"), late("return/eval")
    if curve is None or goal is None or level is None or mean is None or better is None or low is None or high is None:
        return None
    return Offline(
        level < goal.level, curve.final, goal.level, mean, better, low, high, late("q/mean"), late("offline/q_policy"),
        late("offline/actions_outside"), late("offline/states_outside"), late("offline/action_distance"),
        None if apart is None else float(np.nanmin(apart.values)),
    )  # fmt: skip

"""Whether a run without a fault may be called healthy: absent is not healthy, and neither is far from the goal."""

from __future__ import annotations

from rlclinic.facts.goal import goal_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.trailing_mean import unseen_end
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.numbers import percent
from rlclinic.model.run import Status

# Share of the way to the goal that a run without a fault must have made by its end.
NEAR_GOAL = 0.9
# Share of the checks that must have been possible.
ENOUGH_CHECKS = 0.5


def lacking(facts: RunFacts, verdict: Verdict, *, checked: int, applicable: int) -> tuple[str, ...]:
    """What keeps the run from being called healthy, each with what would change that; none for a solved one."""
    if verdict in (Verdict.SOLVED, Verdict.NO_FAULT_FOUND):
        return ()
    if verdict is Verdict.NOT_RL:
        return ("it learns from examples, which is not judged here",)
    run, goal, curve = facts.run, goal_of(facts), facts.curve
    lines = []
    if curve is None:
        lines.append("no return was logged")
    if goal is None:
        lines.append("no goal is known (set it with --goal)")
    elif curve is not None and goal.share(curve.final) < NEAR_GOAL:
        ended = "it is still running, at" if run.status.state is Status.RUNNING else "it ended at"
        way = percent(max(goal.share(curve.final), 0.0))
        lines.append(f"{ended} {curve.final:.4g}, {way} of the way to {goal.level:.4g} ({goal.origin})")
    end = unseen_end(facts)
    if curve is not None and end is not None and end.level < curve.final:
        lines.append(f"its last episodes came to {end.level:.4g}, and the mean that is logged shows that late")
    if run.is_language_model:
        # The training score is what was optimised; published returns are of environments.
        if facts.series("return/eval") is None:
            lines.append("nothing is held out to judge by (log a validation)")
    elif not run.environment:
        lines.append("the environment is not known (name it with --env)")
    if checked < ENOUGH_CHECKS * applicable:
        lines.append(f"only {checked} of {applicable} checks could be made")
    if verdict not in (Verdict.LEARNING, Verdict.PLATEAUED) and not lines:
        lines.append(f"the verdict is {verdict.value}")
    return tuple(lines)

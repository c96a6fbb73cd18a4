"""Values are as large as if no episode ever ended.

What it sees: Every step pays the same and episodes end long before the horizon of gamma, but the mean value settles at
pay / (1 - gamma), which only an endless episode earns.
Why it hurts: Terminal states are bootstrapped: the done mask is missing in the target, or the stored flag is always
False. Ending then costs nothing, and the agent does not learn to avoid it.
Evidence needed: q/mean or value/mean, gamma in the config, a return and episode lengths logged together.
Looks alike: Overestimation that passes by this level (it must stay there for a third of the run). Episodes cut by a
time limit, whose value rightly goes on: only episodes much shorter than the longest ones count.
What to change: Multiply the bootstrap by (1 - terminated); check that the buffer stores the flag of the same step.
References: DLR-RM/stable-baselines3 1.0 (terminal observation in replay); ray#10416.
"""

from __future__ import annotations

import numpy as np

from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.environment._episodes import pairs_of
from rlclinic.rules.patient import Patient
from rlclinic.rules.q_values import q_series, rewards_rescaled
from rlclinic.rules.setting import finite
from rlclinic.rules.sighting import Sighting
from rlclinic.signals.return_on_length import return_on_length

# Relative distance from pay / (1 - gamma) that counts as being there.
THERE = 0.1
# Share of that level that the longest episode seen may earn; above it, ends hardly matter.
EARNED = 0.6
# Share of the scatter of returns that their length must explain, for the pay per step to be one number.
SAME_PAY = 0.9
# A single episode may be this many times longer than the longest mean.
OVER_MEAN = 3.0
FEWEST_POINTS = 20


def check(patient: Patient) -> Sighting | None:
    """Hold the level of the last third against endless and against real episodes."""
    value, gamma, pairs = _value(patient), finite(patient, "gamma"), pairs_of(patient)
    if value is None or gamma is None or pairs is None or not 0.0 < gamma < 1.0 or rewards_rescaled(patient):
        return None
    paid = return_on_length(pairs.returns, pairs.lengths)
    if len(value) < FEWEST_POINTS or not paid.enough or not paid.explained >= SAME_PAY:
        return None
    endless = paid.slope / (1.0 - gamma)
    longest = float(np.max(pairs.lengths)) * (1.0 if pairs.are_single else OVER_MEAN)
    earned = abs(endless) * (1.0 - gamma**longest)
    if earned > EARNED * abs(endless) or not abs(endless) > 0.0:
        return None
    late = value.values[-max(1, len(value) // 3) :]
    near = np.abs(late / endless - 1.0) < THERE
    if not bool(np.all(near)):
        return None
    level = float(np.median(late))
    summary = (
        f"{value.logged_as} stays at {level:.4g}, which is the pay of {paid.slope:.3g} per step over 1 - gamma; "
        f"the longest episode ({longest:,.0f} steps) is worth {np.sign(endless) * earned:.4g} at most"
    )
    evidence = (
        patient.evidence(value.name, level, endless, note="median of the last third, against pay / (1 - gamma)"),
        patient.evidence("episode_length", longest, note="longest episode seen"),
    )
    onset = float(value.steps[-late.size])
    # Overestimated Q may come to rest at the same level; a value of what the policy did may not.
    if patient.is_off_policy:
        return Sighting(Severity.INFO, 0.5, summary, evidence, onset)
    return Sighting(Severity.ERROR, 0.75, summary, evidence, onset)


def _value(patient: Patient) -> Series | None:
    return q_series(patient) if patient.is_off_policy else patient.series("value/mean")

"""Where the time of a run goes, and what to try so that the same steps take less of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rlclinic.comparison.attempts import native_key
from rlclinic.model.history import Aim, PastConfig, Suggestion
from rlclinic.model.prescription import Basis, Change
from rlclinic.model.run import Run
from rlclinic.model.vocabulary import families_of

# Speeds of two numbers of environments must differ by this factor before more of them pay.
PAYS = 1.2
# Share of the time from which on a part is where the time goes.
MOST = 0.6
# Logged times by what they are spent on. Totals and clocks of other things fit none.
PARTS = {
    "collecting data": re.compile(r"(collect|rollout|sampl|gen(eration)?|env_?step|inference)", re.IGNORECASE),
    "learning": re.compile(r"(learn|train|update|backward|optim|actor|critic)", re.IGNORECASE),
    "evaluation": re.compile(r"(eval|test|valid)", re.IGNORECASE),
}
_TIME = re.compile(r"(time|timing)", re.IGNORECASE)
_NO_PART = re.compile(r"(total|elapsed|fps|per_sec|eta|step_time|timesteps|time_step)", re.IGNORECASE)


def time_shares(run: Run) -> dict[str, float]:
    """Share of the time by part, where the run logs at least two parts."""
    seconds: dict[str, float] = {}
    for series in run.series.values():
        name = series.logged_as
        if series.known or not _TIME.search(name) or _NO_PART.search(name):
            continue
        last = _TIME.sub("", name.rpartition("/")[2])
        part = next((part for part, pattern in PARTS.items() if pattern.search(last)), None)
        values = series.values[np.isfinite(series.values)]
        if part is not None and values.size and float(np.median(values)) > 0:
            seconds[part] = seconds.get(part, 0.0) + float(np.median(values))
    total = sum(seconds.values())
    return {part: value / total for part, value in seconds.items()} if len(seconds) > 1 else {}


def wall_time_suggestions(configs: Sequence[PastConfig], run: Run) -> list[Suggestion]:
    """What to try for shorter wall time, from the best config's run."""
    shares = time_shares(run)
    items = [*_where(shares), *_environments(configs, run, shares), *_device(run)]
    if run.series.get("fps") is None and not shares:
        text = "Log env steps per second and the time per rollout and per update: without them nobody sees the waste."
        items.append(Suggestion(Aim.WALL_TIME, text, Basis.GUESS, "neither is logged by the best run"))
    return items


def _where(shares: dict[str, float]) -> list[Suggestion]:
    if not shares:
        return []
    listed = ", ".join(f"{part} {100 * share:.0f}%" for part, share in sorted(shares.items(), key=lambda i: -i[1]))
    lead = max(shares, key=lambda part: shares[part])
    cure = {
        "collecting data": "more parallel environments pay, a faster device for learning does not",
        "learning": "larger batches, fewer passes or an accelerator pay, more environments do not",
        "evaluation": "evaluate less often, or on fewer episodes",
    }[lead]
    text = f"The time goes to {listed}" + (f": {cure}." if shares[lead] >= MOST else ": no part dominates.")
    return [Suggestion(Aim.WALL_TIME, text, Basis.MEASURED, "times logged by the best run")]


def _environments(configs: Sequence[PastConfig], run: Run, shares: dict[str, float]) -> list[Suggestion]:
    best = configs[0]
    own = best.settings.get("n_envs")
    speeds: dict[int, list[float]] = {}
    for config in configs:
        count = config.settings.get("n_envs")
        # Frameworks and algorithms differ in speed for other reasons.
        alike = (config.framework, config.algorithm) == (best.framework, best.algorithm)
        if isinstance(count, int) and config.fps and alike:
            speeds.setdefault(count, []).append(config.fps)
    middle = {count: float(np.median(values)) for count, values in speeds.items()}
    if not isinstance(own, int) or own not in middle:
        return []
    fastest = max(middle, key=lambda count: middle[count])
    source = f"{sum(map(len, speeds.values()))} configs with a speed"
    if fastest != own and middle[fastest] > PAYS * middle[own]:
        text = (
            f"With {fastest} environments the history runs at {middle[fastest]:,.0f} env steps per second, with {own} "
            f"at {middle[own]:,.0f}. Change n_steps with it, so that a rollout keeps its size."
        )
        return [Suggestion(Aim.WALL_TIME, text, Basis.MEASURED, source)]
    if fastest == own and len(middle) > 1:
        counts = ", ".join(str(count) for count in sorted(middle))
        text = f"Keep {own} environments: of {counts} they are the fastest, at {middle[own]:,.0f} env steps per second."
        return [Suggestion(Aim.WALL_TIME, text, Basis.MEASURED, source)]
    steps = best.settings.get("n_steps")
    on_policy = bool(families_of(run.algorithm) & {"ppo", "actor-critic"})
    if len(middle) > 1 or not on_policy or not isinstance(steps, int) or steps < 32 or shares.get("learning", 0) > MOST:
        return []
    changes = (
        Change("n_envs", native_key(run, "n_envs"), own, 2 * own),
        Change("n_steps", native_key(run, "n_steps"), steps, steps // 2),
    )
    text = (
        f"Try {2 * own} environments with {steps // 2} steps each instead of {own} with {steps}: rollouts and batches "
        f"keep their size. It runs at {middle[own]:,.0f} env steps per second now."
    )
    return [Suggestion(Aim.WALL_TIME, text, Basis.GUESS, "the history has one number of environments only", changes)]


def _device(run: Run) -> list[Suggestion]:
    device = str(run.config.get("device") or "")
    small = not any(word in str(run.config.get("policy_class") or "").lower() for word in ("cnn", "multiinput", "lstm"))
    on_policy = bool(families_of(run.algorithm) & {"ppo", "actor-critic"}) and run.framework in ("sb3", "sb3-zoo")
    if not device.startswith("cuda") or not small or not on_policy:
        return []
    text = f"Run {run.algorithm} with small fully connected networks on the CPU: copies to the GPU cost more time."
    source = "Stable-Baselines3 warns of it when PPO or A2C start on a GPU without a CNN"
    return [
        Suggestion(
            Aim.WALL_TIME, text, Basis.CITED, source, (Change("device", native_key(run, "device"), device, "cpu"),)
        )
    ]

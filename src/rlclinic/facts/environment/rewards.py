"""What recorded steps tell of the reward: its size, what foretells it, when it comes, and what it is made of."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from rlclinic.facts.environment.episodes import GAMMA
from rlclinic.facts.environment.observations import AGES, FEWEST, can_be_fitted, depths, sound
from rlclinic.facts.environment.regression import encoded, even, explained
from rlclinic.model.environment_facts import NOT_MEASURED, Component, RewardFacts
from rlclinic.model.transitions import BoolArray, EpisodeTable, IntArray, Transitions

STAYS = 0.05
"""Different observations among those at a bound of the reward, below which the state does not move."""
FEWEST_ALIKE = 20
"""Steps with exactly one action, from which on their rewards are compared."""
OFTEN = 10
RUN_UP = 5
"""Steps before an end that tell what going on pays."""
FAR = 30.0
"""Spreads from the middle at which a reward is an outlier."""


def reward_facts(steps: Transitions, episodes: EpisodeTable) -> RewardFacts:
    """The facts that follow from the steps alone."""
    rewards = steps.rewards[np.isfinite(steps.rewards)]
    if not rewards.size:
        rewards = np.zeros(1)
    std, largest = float(rewards.std()), float(np.abs(rewards).max())
    edge, at_edge = _edge(steps)
    far, size = _outliers(steps)
    lag, at_lag, now = _lag(steps)
    pay, alone = _pay(steps)
    by_last, first_spread = _level(steps)
    goals, forfeits, worth, goal_pays = _ends(steps)
    loops, loop_worth = _loops(steps)
    inside = steps.rewards[np.isfinite(steps.rewards) & ~steps.ended]
    components, sums = _components(steps)
    pair, lost = _cancelling(steps)
    away, rises = _distance(steps)
    return RewardFacts(
        mean=float(rewards.mean()),
        std=std,
        low=float(rewards.min()),
        high=float(rewards.max()),
        distinct=int(min(len(np.unique(rewards)), 1000)),
        nonzero=float((np.abs(rewards) > 1e-3 * largest).mean()) if largest else 0.0,
        signal_to_noise=float(abs(rewards.mean()) / (std + 1e-8)),
        largest_correlation=_correlation(steps),
        at_edge=at_edge,
        edge=edge,
        outliers=float(far.mean()) if len(steps) else 0.0,
        outlier_size=size,
        not_finite=int((~np.isfinite(steps.rewards)).sum()),
        explained=now,
        by_action=_by_action(steps),
        same_action=_same_action(steps),
        at_end=_at_end(steps),
        first_zero=_first_zero(steps),
        lag=lag,
        explained_at_lag=at_lag,
        by_last=by_last,
        first_spread=first_spread,
        positive=float((inside > 0.0).mean()) if len(inside) else NOT_MEASURED,
        goals=goals,
        forfeits=forfeits,
        ending_worth=worth,
        goal_pays=goal_pays,
        loops=loops,
        loop_worth=loop_worth,
        pay_of_action=pay,
        pay_by_itself=alone,
        components=components,
        components_sum=sums,
        cancelling=pair,
        cancelled=lost,
        usual=float(np.unique(rewards, return_counts=True)[1].max() / len(rewards)),
        cut_sum="" if sums else _cut_sum(steps),
        distance=away,
        pays_distance=rises,
    )


def outlier_rows(steps: Transitions) -> IntArray:
    """Rows inside episodes whose reward lies far outside of all others."""
    return np.flatnonzero(_outliers(steps)[0]).astype(np.int64)


def _edge(steps: Transitions) -> tuple[float, float]:
    """The end of the range at which rewards of different states lie exactly while the others differ; their share."""
    finite = np.isfinite(steps.rewards)
    rewards = steps.rewards[finite]
    if len(np.unique(rewards)) < 20:
        return NOT_MEASURED, 0.0
    shares = {float(end): float((rewards == end).mean()) for end in (rewards.min(), rewards.max())}
    edge = max(shares, key=lambda end: shares[end])
    places = steps.next_observations[finite][rewards == edge]
    if len(np.unique(places, axis=0)) < STAYS * len(places):
        # The state stays where it is, so the reward does.
        return NOT_MEASURED, 0.0
    # Nothing is a natural amount to be paid.
    return (edge, shares[edge]) if edge != 0.0 else (NOT_MEASURED, 0.0)


def _outliers(steps: Transitions) -> tuple[BoolArray, float]:
    """Rewards inside episodes beyond all others: an end may pay or cost what no step does."""
    inside = np.isfinite(steps.rewards) & ~steps.ended
    empty = np.zeros(len(steps), dtype=bool)
    if inside.sum() < FEWEST:
        return empty, NOT_MEASURED
    rewards = steps.rewards[inside]
    middle = np.median(rewards)
    low, high = np.quantile(rewards, [0.02, 0.98])
    # Where nearly no step pays, what is paid is rare and no outlier.
    spread = max((high - low) / 2.0, abs(middle)) or np.inf
    away = np.abs(steps.rewards - middle) / spread
    far = inside & (away > FAR)
    if not 0 < far.sum() <= 0.02 * inside.sum():
        return empty, NOT_MEASURED
    return far, float(np.median(away[far]))


def _correlation(steps: Transitions) -> float:
    rows = sound(steps)
    seen, paid = steps.observations[rows], steps.rewards[rows]
    if len(paid) < 10 or paid.std() == 0:
        return NOT_MEASURED
    live = seen.std(axis=0) > 1e-9
    if not live.any():
        return NOT_MEASURED
    scaled = (seen[:, live] - seen[:, live].mean(axis=0)) / seen[:, live].std(axis=0)
    return float(np.abs(scaled.T @ (paid - paid.mean())).max() / (len(paid) * paid.std()))


def _lag(steps: Transitions) -> tuple[int, float, float]:
    """The age of the transition that foretells a reward best, how well it does, and how well the present one."""
    if not can_be_fitted(steps):
        return 0, NOT_MEASURED, NOT_MEASURED
    depth, whole_rows = depths(steps), sound(steps)
    seen, done = encoded(steps.observation_space, steps.observations), encoded(steps.action_space, steps.actions)
    after = encoded(steps.observation_space, steps.next_observations)
    inputs = np.concatenate([seen, done, after], axis=1)
    all_rows = even(np.flatnonzero(whole_rows))
    if len(all_rows) < FEWEST or steps.rewards[all_rows].std() == 0:
        return 0, NOT_MEASURED, NOT_MEASURED
    flags = np.stack([steps.terminated, steps.truncated], axis=1).astype(np.float64)
    whole = np.concatenate([inputs, flags], axis=1)
    now = float(explained(whole[all_rows], steps.rewards[all_rows, None], steps.episodes[all_rows])[0])
    rows = even(np.flatnonzero((depth >= AGES[-1]) & whole_rows))
    if len(rows) < FEWEST or steps.rewards[rows].std() == 0:
        return 0, now, now
    targets, groups = steps.rewards[rows, None], steps.episodes[rows]
    shares = {age: float(explained(inputs[rows - age], targets, groups, folds=2)[0]) for age in AGES}
    best = max(shares, key=lambda age: shares[age])
    return (best, shares[best], shares[0]) if shares[best] > shares[0] + 0.05 else (0, now, now)


def _by_action(steps: Transitions) -> float:
    """Share of the rewards' variance that the action alone foretells."""
    rows = even(np.flatnonzero(sound(steps)))
    if len(rows) < FEWEST or steps.rewards[rows].std() == 0:
        return NOT_MEASURED
    done = encoded(steps.action_space, steps.actions)[rows]
    return float(explained(done, steps.rewards[rows, None], steps.episodes[rows])[0])


def _same_action(steps: Transitions) -> float:
    """What the reward varies by where exactly one action was taken, inside episodes."""
    rows = np.flatnonzero(np.isfinite(steps.rewards) & ~steps.ended)
    spread = float(steps.rewards[rows].std()) if len(rows) else 0.0
    if steps.action_space.kind != "box" or spread == 0.0:
        return NOT_MEASURED
    _, places, counts = np.unique(steps.actions[rows], axis=0, return_inverse=True, return_counts=True)
    often = np.flatnonzero(counts >= FEWEST_ALIKE)
    paid = [steps.rewards[rows[places.ravel() == place]] for place in often]
    return max((float(values.std()) for values in paid), default=NOT_MEASURED) / spread


def _at_end(steps: Transitions) -> float:
    paid = np.where(np.isfinite(steps.rewards), np.abs(steps.rewards), 0.0)
    total = paid.sum()
    # A goal that is reached may well be all that pays; a time limit is no deed.
    cut = steps.truncated & ~steps.terminated
    return float(paid[cut].sum() / total) if total and cut.any() else NOT_MEASURED


def _first_zero(steps: Transitions) -> int:
    """Steps at the start of every episode that pay exactly nothing, where nearly all others pay."""
    if len(steps) < FEWEST or len(np.unique(steps.episodes)) < 5:
        return 0
    count = 0
    while count < 50:
        at = steps.rewards[steps.times == count]
        if not len(at) or (at != 0.0).any():
            break
        count += 1
    later = steps.rewards[steps.times >= count]
    return count if count and len(later) and (later != 0.0).mean() > 0.95 else 0


def _level(steps: Transitions) -> tuple[float, float]:
    """What the last reward foretells of a reward, and how much the first ones of episodes differ."""
    rewards, follows = steps.rewards, np.array(steps.follows)
    follows[0] = False
    after = np.flatnonzero(follows)
    after = after[np.isfinite(rewards[after]) & np.isfinite(rewards[after - 1])]
    first = rewards[(steps.times == 0) & np.isfinite(rewards)]
    spread = float(np.nanstd(rewards))
    if len(after) < FEWEST or len(first) < OFTEN or spread == 0.0 or rewards[after].std() == 0.0:
        return NOT_MEASURED, NOT_MEASURED
    left = float(np.mean((rewards[after] - rewards[after - 1]) ** 2))
    return 1.0 - left / float(rewards[after].var()), float(first.std()) / spread


def _ends(steps: Transitions) -> tuple[int, float, float, float]:
    """Ends that pay more than any step, in how many going on as just before pays more, and as usual less; their pay."""
    inside = steps.rewards[np.isfinite(steps.rewards) & ~steps.ended]
    ends = np.flatnonzero(steps.terminated & np.isfinite(steps.rewards) & (steps.times >= RUN_UP))
    if len(inside) < FEWEST or not len(ends):
        return 0, NOT_MEASURED, NOT_MEASURED, NOT_MEASURED
    left = np.maximum(int(steps.times.max()) - steps.times[ends], 0)
    steps_worth = (1.0 - GAMMA**left) / (1.0 - GAMMA)
    before = np.array([float(np.median(steps.rewards[end - RUN_UP : end])) for end in ends])
    goals = steps.rewards[ends] > inside.max()
    lingers = (before * steps_worth > steps.rewards[ends])[goals]
    usual = float(inside.mean())
    ends_well = (steps.rewards[ends] > np.maximum(usual * steps_worth, usual / (1.0 - GAMMA))) & goals
    if not goals.any():
        return 0, NOT_MEASURED, float(ends_well.mean()), NOT_MEASURED
    pays = float(np.median(steps.rewards[ends][goals]))
    return int(goals.sum()), float(lingers.mean()), float(ends_well.mean()), pays


def _loops(steps: Transitions) -> tuple[int, float]:
    """Pay for exactly one step that came again in its episode, and what going round for it is worth."""
    paid = np.flatnonzero(np.isfinite(steps.rewards) & (steps.rewards > 0.0) & ~steps.ended)
    total = np.cumsum(np.nan_to_num(steps.rewards))
    seen: dict[bytes, int] = {}
    rates: list[float] = []
    for row in paid.tolist():
        key = np.concatenate([[steps.episodes[row]], steps.observations[row], steps.actions[row]]).tobytes()
        before = seen.get(key)
        if before is not None and total[row] > total[before] and steps.rewards[row] == steps.rewards[before]:
            rates.append(float(total[row] - total[before]) / (row - before))
        seen[key] = row
    worth = (1.0 - GAMMA ** int(steps.times.max(initial=0))) / (1.0 - GAMMA)
    return len(rates), max(rates) * worth if rates else NOT_MEASURED


def _pay(steps: Transitions) -> tuple[tuple[float, ...], float]:
    """Median reward of each choice, and how often the best-paid one pays exactly that."""
    space = steps.action_space
    if not 1 < space.choices <= 32:
        return (), NOT_MEASURED
    taken = steps.actions[:, 0] - space.low[0]
    paid = [steps.rewards[(taken == choice) & ~steps.ended] for choice in range(space.choices)]
    if any(len(values) < 20 for values in paid):
        return (), NOT_MEASURED
    medians = tuple(float(np.median(values)) for values in paid)
    best = int(np.argmax(medians))
    same = np.abs(paid[best] - medians[best]) <= 1e-6 * max(abs(medians[best]), 1e-12)
    return medians, float(same.mean())


def _cancelling(steps: Transitions) -> tuple[tuple[str, ...], float]:
    """The pair of components whose sum keeps the least of their variance, and what it has lost."""
    live = {name: part for name, part in steps.components.items() if np.isfinite(part).all() and part.std() > 0}
    found = [
        (1.0 - float(np.var(live[a] + live[b]) / (np.var(live[a]) + np.var(live[b]))), (a, b))
        for a, b in combinations(live, 2)
    ]
    lost, pair = max(found, default=(NOT_MEASURED, ()))
    return pair, lost


def _cut_sum(steps: Transitions) -> str:
    """Whether the reward is the sign of the sum of its components, which is no sign."""
    parts = list(steps.components.values())
    total = np.sum(parts, axis=0) if len(parts) > 1 else np.zeros(len(steps))
    known = np.isfinite(total) & np.isfinite(steps.rewards)
    values = len(np.unique(total[known]))
    is_sign = known.sum() >= FEWEST and values > FEWEST and np.array_equal(np.sign(total[known]), steps.rewards[known])
    return "only the sign" if is_sign else ""


def _distance(steps: Transitions) -> tuple[str, float]:
    """The first distance or error that `info` tells, and how the reward inside episodes rises with it."""
    inside = ~steps.ended & np.isfinite(steps.rewards)
    for name, values in steps.distances.items():
        rows = np.flatnonzero(inside & np.isfinite(values))
        if len(rows) >= FEWEST and values[rows].std() > 0.0 and steps.rewards[rows].std() > 0.0:
            ranks = [np.unique(column[rows], return_inverse=True)[1] for column in (values, steps.rewards)]
            return name, float(np.corrcoef(ranks[0], ranks[1])[0, 1])
    return "", NOT_MEASURED


def _components(steps: Transitions) -> tuple[tuple[Component, ...], bool]:
    known = {name: values for name, values in steps.components.items() if np.isfinite(values).mean() > 0.9}
    if not known:
        return (), False
    rewards, variance = steps.rewards, float(np.nanvar(steps.rewards))
    table = {name: np.nan_to_num(values) for name, values in known.items()}
    total = np.sum(list(table.values()), axis=0)
    sums = bool(np.abs(total - rewards).max() <= 1e-3 * max(float(np.abs(rewards).max()), 1e-9))
    found = []
    for name, values in table.items():
        share = float(np.mean((values - values.mean()) * (rewards - rewards.mean())) / variance) if variance else 0.0
        constant = bool(values.max() == values.min())
        found.append(Component(name, float(values.mean()), float(values.std()), share, constant))
    return tuple(found), sums

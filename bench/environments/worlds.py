"""Environments as people write them for their own problems, each with the switches of the mistakes made in it."""

from __future__ import annotations

import math
import random
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class GridRobot(gymnasium.Env):  # type: ignore[type-arg]
    """A cleaning robot drives to a charger that is somewhere else every time, around three boxes."""

    SIDE = 7
    MOVES = ((0, 1), (0, -1), (1, 0), (-1, 0))

    def __init__(
        self, *, sees_charger: bool = True, keeps_clock: bool = False, keeps_boxes: bool = False, shaped: bool = False,
        dead_move: int | None = None, first_action: int = 0,
    ) -> None:  # fmt: skip
        self.action_space = spaces.Discrete(4, start=first_action)
        self.observation_space = spaces.Box(0.0, 1.0, (2 + 2 * sees_charger + 4,), np.float32)
        self._sees_charger, self._keeps_clock, self._keeps_boxes = sees_charger, keeps_clock, keeps_boxes
        self._shaped, self._dead_move, self._first = shaped, dead_move, first_action
        self._clock = 0
        self._boxes: list[tuple[int, int]] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        if not self._keeps_boxes:
            self._boxes = []
        places = [(x, y) for x in range(self.SIDE) for y in range(self.SIDE) if (x, y) not in self._boxes]
        picked = [places[index] for index in self.np_random.permutation(len(places))[:5]]
        self._at, self._charger = picked[0], picked[1]
        self._boxes += picked[2:5]
        if not self._keeps_clock:
            self._clock = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        before = self._distance()
        move = int(action) - self._first
        side, up = (0, 0) if move == self._dead_move else self.MOVES[move]
        to = (self._at[0] + side, self._at[1] + up)
        if self._free(to):
            self._at = to
        self._clock += 1
        arrived = self._at == self._charger
        reward = 1.0 if arrived else -0.01
        if self._shaped:
            reward += 0.1 * (before - 0.99 * self._distance())
        return self._seen(), reward, arrived, self._clock >= 80, {"is_success": arrived}

    def _free(self, place: tuple[int, int]) -> bool:
        return 0 <= place[0] < self.SIDE and 0 <= place[1] < self.SIDE and place not in self._boxes

    def _distance(self) -> int:
        return abs(self._at[0] - self._charger[0]) + abs(self._at[1] - self._charger[1])

    def _seen(self) -> Any:
        free = [float(self._free((self._at[0] + x, self._at[1] + y))) for x, y in self.MOVES]
        where = [*self._at, *(self._charger if self._sees_charger else ())]
        return np.array([value / (self.SIDE - 1) for value in where] + free, np.float32)


class Trading(gymnasium.Env):  # type: ignore[type-arg]
    """Hold, buy or sell one share whose price returns to a mean; fees are paid for every trade."""

    def __init__(self, *, raw: bool = False, pays_value: bool = False, one_history: bool = False) -> None:
        self.action_space = spaces.Discrete(3)
        self.observation_space = spaces.Box(-np.inf, np.inf, (8,), np.float32)
        self._raw, self._pays_value, self._one_history = raw, pays_value, one_history

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        chance = np.random.default_rng(42) if self._one_history else self.np_random
        away = [0.0]
        for _ in range(219):
            away.append(0.9 * away[-1] + float(chance.normal(0.0, 0.02)))
        self._prices = 30_000.0 * np.exp(np.array(away))
        self._volumes = 1e9 * chance.lognormal(0.0, 0.5, 220)
        self._day, self._position, self._money = 19, 0, 100_000.0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        wanted = int(action) - 1
        fee = 5.0 * abs(wanted - self._position)
        self._position = wanted
        self._day += 1
        gain = self._position * float(self._prices[self._day] - self._prices[self._day - 1]) - fee
        self._money += gain
        reward = self._money if self._pays_value else gain / 300.0
        return self._seen(), reward, False, self._day >= 219, {"portfolio": self._money}

    def _seen(self) -> Any:
        recent = self._prices[self._day - 5 : self._day + 1]
        if self._raw:
            return np.array([*recent, self._volumes[self._day], self._position], np.float32)
        traded = math.log(self._volumes[self._day] / 1e9)
        return np.array([*(10.0 * np.log(recent / 30_000.0)), traded, self._position], np.float32)


class Inventory(gymnasium.Env):  # type: ignore[type-arg]
    """Order two goods a day; demand is by chance, storing and missing goods cost."""

    def __init__(self, *, lead: int = 0, storing: float = 0.05) -> None:
        self.action_space = spaces.MultiDiscrete([6, 6])
        self.observation_space = spaces.Dict(
            {"stock": spaces.Box(0.0, 100.0, (2,), np.float32), "weekday": spaces.Discrete(7)}
        )
        self._lead, self._storing = lead, storing

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._stock = self.np_random.integers(3, 12, 2).astype(float)
        self._way = [np.zeros(2)] * self._lead
        self._day = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        ordered = 3.0 * np.asarray(action, float)
        self._way.append(ordered)
        self._stock = np.minimum(self._stock + self._way.pop(0), 100.0)
        busy = 1.5 if self._day % 7 == 5 else 1.0
        demand = self.np_random.poisson([4.0 * busy, 7.0 * busy])
        sold = np.minimum(self._stock, demand)
        self._stock = self._stock - sold
        parts = {
            "reward_sales": float(sold @ [2.0, 1.5]) - float(0.8 * ordered.sum()),
            "reward_storing": -self._storing * float(self._stock.sum()),
            "reward_missing": -0.3 * float((demand - sold).sum()),
        }
        self._day += 1
        return self._seen(), sum(parts.values()), False, self._day >= 90, parts

    def _seen(self) -> Any:
        return {"stock": self._stock.astype(np.float32), "weekday": self._day % 7}


class Drone(gymnasium.Env):  # type: ignore[type-arg]
    """Fly a planar drone to a point with two rotors and hold it there."""

    def __init__(
        self, *, sign: float = -1.0, dead_rotor: bool = False, asin: bool = False, pwm: bool = False,
        crash: float = -200.0, still: float = 0.0, same_array: bool = False, gain: float = 8.0,
    ) -> None:  # fmt: skip
        self._pwm = pwm
        self.action_space = spaces.Box(1000.0 if pwm else -1.0, 2000.0 if pwm else 1.0, (2,), np.float32)
        self.observation_space = spaces.Box(-np.inf, np.inf, (6,), np.float32)
        self._sign, self._dead_rotor, self._asin = sign, dead_rotor, asin
        self._crash, self._still, self._same_array, self._gain = crash, still, same_array, gain
        self._buffer = np.zeros(6, np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._state = self.np_random.uniform(-0.6, 0.6, 6) * [1.0, 1.0, 0.3, 0.3, 0.3, 0.3]
        self._steps = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        push = np.asarray(action, float)
        push = np.clip((push - 1500.0) / 500.0 if self._pwm else push, -1.0, 1.0)
        left, right = push[0], 0.0 if self._dead_rotor else push[1]
        x, y, tilt, vx, vy, turn = self._state
        lift = 9.8 + 4.0 * (left + right)
        step = 0.02
        vx, vy = vx - step * lift * math.sin(tilt), vy + step * (lift * math.cos(tilt) - 9.8)
        turn += step * self._gain * (right - left)
        x, y, tilt = x + step * vx, y + step * vy, tilt + step * turn
        self._state = np.array([x, y, tilt, vx, vy, turn])
        self._steps += 1
        away = math.hypot(x, y)
        lost = away > 3.0 or abs(tilt) > 1.5
        reward = self._sign * away - 0.02 * float(push @ push) - self._still + (self._crash if lost else 0.0)
        return self._seen(), reward, lost, self._steps >= 250, {"distance": away, "is_success": away < 0.1}

    def _seen(self) -> Any:
        found = self._state.astype(np.float32)
        if self._asin:
            with np.errstate(invalid="ignore"):
                found[2] = np.arcsin(found[2] * 1.2)
        if self._same_array:
            self._buffer[:] = found
            return self._buffer
        return found


class Cards(gymnasium.Env):  # type: ignore[type-arg]
    """Say whether the next card is higher or lower, or stop and take the points: paid at the end."""

    def __init__(self, *, one_deck: bool = False) -> None:
        self.action_space = spaces.Discrete(3)
        self.observation_space = spaces.MultiDiscrete([14, 6])
        self._one_deck = one_deck
        self._deck: list[int] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        if not self._deck or not self._one_deck:
            self._deck = [int(card) for card in self.np_random.permutation([*range(1, 14)] * 4)]
        self._card, self._points = self._deck.pop(), 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        if int(action) == 2:
            return self._seen(), float(self._points), True, False, {}
        before, self._card = self._card, self._deck.pop()
        if (self._card > before) != (int(action) == 0) or self._card == before:
            return self._seen(), -1.0, True, False, {}
        self._points += 1
        ended = self._points == 5
        return self._seen(), float(self._points) if ended else 0.0, ended, False, {}

    def _seen(self) -> Any:
        return np.array([self._card, self._points])


class LineFollower(gymnasium.Env):  # type: ignore[type-arg]
    """A toy car at constant speed steers along a bending line; its speed is one of the five sensors."""

    def __init__(self, *, late: int = 0, limit_ends: bool = False, wears: bool = False, deaf: bool = False) -> None:
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.observation_space = spaces.Box(-5.0, 5.0, (5,), np.float32)
        self._late, self._limit_ends, self._wears, self._deaf = late, limit_ends, wears, deaf
        self._motor = 1.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._offset, self._heading = float(self.np_random.uniform(-0.5, 0.5)), 0.0
        self._bend, self._steps = float(self.np_random.uniform(-0.3, 0.3)), 0
        self._frames = [self._sensors()] * (self._late + 1)
        if self._wears:
            self._motor *= 0.97
        return self._frames[0], {}

    def step(self, action: Any) -> Any:
        steer = 0.0 if self._deaf else self._motor * float(np.clip(action[0], -1.0, 1.0))
        self._heading += 0.1 * (steer - self._bend)
        self._offset += 0.1 * math.sin(self._heading)
        self._bend = 0.98 * self._bend + float(self.np_random.normal(0.0, 0.03))
        self._steps += 1
        self._frames = [*self._frames[1:], self._sensors()]
        off, over = abs(self._offset) > 2.0, self._steps >= 200
        ended = (off or over, False) if self._limit_ends else (off, over)
        return self._frames[0], 1.0 - abs(self._offset) / 2.0, *ended, {}

    def _sensors(self) -> Any:
        heading = (math.sin(self._heading), math.cos(self._heading))
        return np.array([self._offset, *heading, self._bend, 0.5], np.float32)


class Thermostat(gymnasium.Env):  # type: ignore[type-arg]
    """Heat a room through a day in steps of five minutes; being too warm or too cold costs, heating costs."""

    def __init__(self, *, frozen: bool = False, unit: float = 1.0, days: int = 1, clipped: bool = False) -> None:
        self.action_space = spaces.Discrete(4)
        self.observation_space = spaces.Box(-10.0, 40.0, (4,), np.float64)
        self._frozen, self._unit, self._steps_max = frozen, unit, 288 * days
        self._clipped = clipped

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._room, self._outside = float(self.np_random.uniform(14.0, 24.0)), float(self.np_random.uniform(0.0, 10.0))
        self._reading, self._time = self._room, 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        hour = self._time % 288 / 12.0
        wind = float(self.np_random.normal(0.0, 0.05))
        outside = self._outside + 4.0 * math.sin((hour - 9.0) * math.pi / 12.0)
        self._room += 0.02 * (outside - self._room) + 0.3 * int(action) + wind
        self._room = min(max(self._room, -10.0), 40.0)
        if not self._frozen:
            self._reading = self._room
        self._time += 1
        cost = abs(self._room - 21.0) + 0.1 * int(action)
        reward = -self._unit * cost
        return self._seen(), max(reward, -0.05) if self._clipped else reward, False, self._time >= self._steps_max, {}

    def _seen(self) -> Any:
        angle = self._time % 288 * 2.0 * math.pi / 288
        return np.array([self._reading, self._outside, math.sin(angle), math.cos(angle)])


class Junction(gymnasium.Env):  # type: ignore[type-arg]
    """Traffic lights: which of four roads gets green; waiting cars cost."""

    def __init__(self, *, counts_arrivals: bool = False) -> None:
        self.action_space = spaces.Discrete(4)
        self.observation_space = spaces.Tuple((spaces.MultiDiscrete([21] * 4), spaces.Discrete(4)))
        self._counts_arrivals = counts_arrivals

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._cars, self._green, self._time = self.np_random.integers(0, 6, 4), 0, 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        passes = 3 if int(action) == self._green else 1
        self._green = int(action)
        self._cars[self._green] = max(self._cars[self._green] - passes, 0)
        arrived = self.np_random.poisson([0.3, 0.8, 0.4, 0.6])
        self._cars = np.minimum(self._cars + arrived, 20)
        self._time += 1
        waiting = arrived if self._counts_arrivals else self._cars
        return self._seen(), -0.1 * float(waiting.sum()), False, self._time >= 150, {}

    def _seen(self) -> Any:
        return self._cars.copy(), self._green


class Snake(gymnasium.Env):  # type: ignore[type-arg]
    """The game, as a picture of ten by ten points in three colours."""

    def __init__(self, *, black: bool = False, restarts: bool = False) -> None:
        self.action_space = spaces.Discrete(4)
        self.observation_space = spaces.Box(0, 255, (10, 10, 3), np.uint8)
        self._black, self._restarts = black, restarts

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._begin()
        self._time = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        side, up = GridRobot.MOVES[int(action)]
        head = (self._body[0][0] + side, self._body[0][1] + up)
        self._time += 1
        over = self._time >= 500 and not self._restarts
        if not (0 <= head[0] < 10 and 0 <= head[1] < 10) or head in self._body[:-1]:
            if self._restarts:
                self._begin()
            return self._seen(), -1.0, not self._restarts, over, {}
        self._body.insert(0, head)
        if head == self._apple:
            self._place()
            return self._seen(), 1.0, False, over, {}
        self._body.pop()
        return self._seen(), 0.0, False, over, {}

    def _begin(self) -> None:
        at = int(self.np_random.integers(3, 7))
        self._body = [(at, 4), (at, 3), (at, 2)]
        self._place()

    def _place(self) -> None:
        free = [(x, y) for x in range(10) for y in range(10) if (x, y) not in self._body]
        self._apple = free[int(self.np_random.integers(len(free)))]

    def _seen(self) -> Any:
        image = np.zeros((10, 10, 3), np.uint8)
        for place in self._body:
            image[place] = (0, 255, 0)
        image[self._body[0]] = (255, 255, 0)
        image[self._apple] = (255, 0, 0)
        return np.zeros_like(image) if self._black else image


class Arm(gymnasium.Env):  # type: ignore[type-arg]
    """Two joints reach for a point: a dict of what is, what is reached and what is wanted, paid 0 or -1."""

    def __init__(self, *, reached_is_limit: bool = False, tells_noise: float = 0.0, near: float = 0.15) -> None:
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        point = spaces.Box(-2.5, 2.5, (2,), np.float64)
        self.observation_space = spaces.Dict(
            {"observation": spaces.Box(-4.0, 4.0, (4,), np.float64), "achieved_goal": point, "desired_goal": point}
        )
        self._reached_is_limit, self._noise, self._near = reached_is_limit, tells_noise, near

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._joints = self.np_random.uniform(-math.pi, math.pi, 2)
        self._goal = self._hand(self.np_random.uniform(-math.pi, math.pi, 2))
        self._steps = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self._joints = self._joints + 0.3 * np.clip(np.asarray(action, float), -1.0, 1.0)
        self._steps += 1
        there = bool(np.linalg.norm(self._hand(self._joints) - self._goal) < self._near)
        over = self._steps >= 50
        ended = (False, there or over) if self._reached_is_limit else (there, over)
        return self._seen(), 0.0 if there else -1.0, *ended, {"is_success": float(there)}

    def _hand(self, joints: Any) -> Any:
        angles = np.cumsum(joints)
        return np.array([np.cos(angles).sum(), np.sin(angles).sum()])

    def _seen(self) -> Any:
        found = np.concatenate([np.cos(self._joints), np.sin(self._joints)])
        found = found + self.np_random.normal(0.0, self._noise, 4) if self._noise else found
        return {"observation": found, "achieved_goal": self._hand(self._joints), "desired_goal": self._goal.copy()}


class Maintenance(gymnasium.Env):  # type: ignore[type-arg]
    """A machine earns until it breaks; service matters only when it is worn."""

    def __init__(self) -> None:
        self.action_space = spaces.Discrete(2)
        self.observation_space = spaces.Discrete(6)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._wear, self._day = 0, 0
        return self._wear, {}

    def step(self, action: Any) -> Any:
        self._day += 1
        if int(action) == 1 and self._wear >= 3:
            self._wear = 0
            return self._wear, -1.0, False, self._day >= 120, {}
        self._wear += int(self.np_random.random() < 0.3)
        broken = self._wear >= 5
        return self._wear, -10.0 if broken else 1.0, broken, self._day >= 120, {}


class Chain(gymnasium.Env):  # type: ignore[type-arg]
    """Ten rooms in a row without chance: one side pays a little at once, the far end much and ends."""

    def __init__(self) -> None:
        self.action_space = spaces.Discrete(2)
        self.observation_space = spaces.Discrete(10)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._room, self._time = 0, 0
        return self._room, {}

    def step(self, action: Any) -> Any:
        self._time += 1
        self._room = min(self._room + 1, 9) if int(action) == 1 else 0
        ended = self._room == 9
        reward = 10.0 if ended else 0.02 * (int(action) == 0)
        return self._room, reward, ended, self._time >= 60, {}


class Tracker(gymnasium.Env):  # type: ignore[type-arg]
    """A camera follows an animal that walks on and on: positions have no bounds, only the way between them counts."""

    def __init__(self) -> None:
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.observation_space = spaces.Box(-np.inf, np.inf, (4,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._animal = self.np_random.normal(0.0, 1.0, 2)
        self._camera, self._time = np.zeros(2), 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self._animal = self._animal + self.np_random.normal(0.02, 0.05, 2)
        self._camera = self._camera + 0.2 * np.asarray(action, float)
        self._time += 1
        away = float(np.linalg.norm(self._animal - self._camera))
        return self._seen(), math.exp(-away), away > 6.0, self._time >= 300, {}

    def _seen(self) -> Any:
        return np.concatenate([self._animal - self._camera, self._camera]).astype(np.float32)


class GuessTheSuit(gymnasium.Env):  # type: ignore[type-arg]
    """A card lies open, its neighbour is probably of the same suit. Uses Python's own chance, as many do."""

    def __init__(self) -> None:
        self.action_space = spaces.Discrete(4)
        self.observation_space = spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._open, self._round = random.randrange(4), 0
        return self._open, {}

    def step(self, action: Any) -> Any:
        suit = self._open if random.random() < 0.6 else random.randrange(4)
        self._open, self._round = random.randrange(4), self._round + 1
        return self._open, 1 if int(action) == suit else -1, self._round >= 20, False, {}

"""Offline algorithms of d3rlpy as a backend of the lab: updates on recorded steps, and online ones after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rlclinic.lab.environments import check_environment, make_environment
from rlclinic.lab.imitation.novice import distance
from rlclinic.lab.offline.data import COLUMNS, Dataset, load_dataset
from rlclinic.lab.offline.link import Link
from rlclinic.lab.offline.measures import SAMPLE, Support
from rlclinic.lab.offline.options import DEFAULTS, OfflineOptions
from rlclinic.lab.offline.venv import worker_python
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.session import Session
from rlclinic.lab.torchrl.spaces import Spaces, spaces_of
from rlclinic.lab.torchrl.state_files import load_arrays, save_arrays
from rlclinic.model.errors import UsageError

# Best share of the data whose mean return a transformer is asked for, and the share that says what a policy can reach.
BEST, BETTER = 0.1, 0.5
# Updates between two looks at the clock and at a wish to stop.
TOGETHER = 50
HOME = "train/offline"
MODEL, STEPS = "model.pt", "online.npz"
# What the losses of d3rlpy are called here.
LOSSES = {
    "actor_loss": "train/opt/loss/policy", "critic_loss": "train/opt/loss/value", "loss": "train/opt/loss/value",
    "q_loss": "train/opt/loss/value", "td_loss": "train/opt/loss/value", "bc_loss": f"{HOME}/cloning_loss",
    "conservative_loss": f"{HOME}/conservative_loss",
}  # fmt: skip


class OfflineBackend:
    """The trainers of d3rlpy."""

    def hyperparameters(self, algorithm: str) -> Mapping[str, object]:
        """Every canonical hyperparameter that the algorithm takes, with its default."""
        return DEFAULTS[algorithm]

    def check(self, recipe: Recipe) -> None:
        """UsageError where the recipe cannot be trained."""
        prepared(recipe)
        worker_python()

    def train(self, recipe: Recipe, session: Session) -> None:
        """Train until the budget is used or the session asks to stop."""
        options, spaces, data = prepared(recipe)
        with Link() as link:
            _Training(recipe, options, spaces, data, session, link).run()


def prepared(recipe: Recipe) -> tuple[OfflineOptions, Spaces, Dataset]:
    """Settings, spaces and data of a recipe, checked against each other."""
    if recipe.algorithm not in DEFAULTS:
        raise UsageError(f"d3rlpy trains no {recipe.algorithm} here", hint=f"one of {', '.join(DEFAULTS)}")
    options = OfflineOptions(recipe)
    spaces = spaces_of(*check_environment(recipe))
    if spaces.is_discrete and recipe.algorithm in ("IQL", "TD3PLUSBC"):
        raise UsageError(f"{recipe.algorithm} has no version for choices", hint="--algo cql, filtered-bc or bc")
    if not spaces.is_discrete and not spaces.is_bounded:
        raise UsageError("actions without bounds have no scale", hint="add the wrapper RescaleAction")
    data = load_dataset(Path(str(options.value("dataset"))), spaces)
    scale = options.number("reward_scale")
    return options, spaces, data if scale == 1.0 else replace(data, rewards=data.rewards * scale)


class Policy:
    """The policy of a worker, as an evaluation plays it."""

    def __init__(self, link: Link, spaces: Spaces, target: float | None) -> None:
        self.link, self.spaces, self.target = link, spaces, target
        self.seen: list[Any] = []
        self.paid: list[float] = []

    def __call__(self, observations: Any, slots: Sequence[int] | None = None) -> Any:
        rows = self.spaces.encode(observations)
        self.seen.extend(rows)
        words: dict[str, Any] = {"observations": rows.tolist()}
        if self.target is not None and slots is not None:
            words |= {"slots": list(slots), "rewards": [self.paid[slot] for slot in slots]}
        return self.to_environment(self.link.ask("act", **words)["actions"])

    def begin(self, count: int) -> None:
        """So many episodes start."""
        self.paid = [0.0] * count
        if self.target is not None:
            self.link.ask("begin", count=count, target=self.target)

    def rewarded(self, slot: int, reward: float) -> None:
        """What the last action of an episode brought."""
        self.paid[slot] = reward

    def explore(self, observation: Any) -> tuple[Any, Any]:
        """One action for training online: as the learner knows it, and as the environment takes it."""
        found = self.link.ask("act", observations=self.spaces.encode([observation]).tolist(), explore=True)["actions"]
        return found[0], self.to_environment(found)[0]

    def to_environment(self, actions: Any) -> Any:
        """Rows in the learner's terms as actions of the environment."""
        rows = np.asarray(actions)
        rows = rows.reshape(-1) if self.spaces.is_discrete else np.clip(rows, -1.0, 1.0)
        return self.spaces.to_environment(self.spaces.from_unit(rows))


class _Training:
    def __init__(
        self, recipe: Recipe, options: OfflineOptions, spaces: Spaces, data: Dataset, session: Session, link: Link
    ) -> None:
        self.recipe, self.options, self.spaces, self.session, self.link = recipe, options, spaces, session, link
        self.data, self.random = data, np.random.default_rng(recipe.seed)
        self.held_out = data.held_out
        self.support = Support(data, spaces.n_actions, self.random)
        self.step = session.env_steps
        self.offline = recipe.total_steps - int(options.optional("online_steps") or 0)
        self.losses: dict[str, float] = {}
        self.online: dict[str, list[Any]] = {}
        target = None
        if recipe.algorithm == "DT":
            wanted = options.optional("target_return")
            target = data.level(BEST) if wanted is None else wanted
        self.policy = Policy(link, spaces, target)
        words: dict[str, Any] = {}
        if session.resumed is not None:
            state = load_arrays(session.resumed.path / STEPS)
            words = {"load": str((session.resumed.path / MODEL).resolve()), "grad_step": int(state.pop("grad_step"))}
            self.online = {name: list(values) for name, values in state.items()}
        settings = {**options.settings(), "gamma": options.number("gamma")}
        # What is held out stays in the file, at its end, so that a measure can name its rows.
        order = np.argsort(self.held_out, kind="stable")
        self.data = data.at(order)
        self.learned = int((~self.held_out).sum())
        link.ask(
            "build", algorithm=recipe.algorithm, settings=settings, seed=recipe.seed, discrete=spaces.is_discrete,
            actions=spaces.action_size, data=link.arrays("data", self.data), learned=self.learned, **words,
        )  # fmt: skip
        if self.online:
            self._tell_online()
        self.constants = self._constants()

    def run(self) -> None:
        """Updates on the data, then with what is seen online."""
        while self.step < self.offline and not self.session.should_stop():
            self._update(min(TOGETHER, self.offline - self.step), share=0.0)
        if self.step < self.recipe.total_steps and not self.session.should_stop():
            self._go_online()
        self.session.finish(self.step, self._measure, self.policy, self._save)

    def _update(self, count: int, share: float) -> None:
        self.losses = self.link.ask("fit", steps=count, share=share)["losses"]
        self.step += count
        self.session.after_update(self.step, self._measure, self.policy, self._save)

    def _go_online(self) -> None:
        """Steps in the environment and as many updates, each batch a mixture of recorded and new steps."""
        environment = make_environment(self.recipe, self.session.episodes)
        share, scale = self.options.number("online_share"), self.options.number("reward_scale")
        try:
            episode = int(max(self.online["episodes"])) + 1 if self.online else 0
            observation, _ = environment.reset(seed=self.recipe.seed + episode)
            taken = 0
            while self.step < self.recipe.total_steps and not self.session.should_stop():
                action, played = self.policy.explore(observation)
                following, reward, terminated, truncated, _ = environment.step(played)
                ends = self.spaces.encode([observation, following])
                row = (ends[0], action, scale * float(reward), ends[1], bool(terminated), episode)
                for name, value in zip(COLUMNS, row, strict=True):
                    self.online.setdefault(name, []).append(value)
                observation, taken = following, taken + 1
                if terminated or truncated:
                    observation, _ = environment.reset()
                    episode += 1
                if taken == TOGETHER or self.step + taken == self.recipe.total_steps:
                    self._tell_online()
                    self._update(taken, share)
                    taken = 0
        finally:
            environment.close()

    def _tell_online(self) -> None:
        self.link.ask("add", data=self.link.arrays("new", Dataset(*(np.asarray(self.online[n]) for n in COLUMNS))))

    def _measure(self) -> Mapping[str, float]:
        """One row: losses, values on the data and what the policy would do there."""
        row = {LOSSES[name]: value for name, value in self.losses.items() if name in LOSSES}
        row |= self.constants
        if self.policy.seen:
            visited = np.asarray(self.policy.seen, dtype=np.float64)
            chosen = self.random.permutation(len(visited))[:SAMPLE]
            row[f"{HOME}/states_outside"] = self.support.states_outside(visited[chosen])
            self.policy.seen = []
        if self.recipe.algorithm == "DT":
            return row
        chosen = self.random.permutation(self.learned)[:SAMPLE]
        found = self.link.ask("measure", rows=chosen.tolist())
        own, values = np.asarray(found["actions"]), np.asarray(found["values"])
        seen, done = self.data.observations[chosen], self.data.actions[chosen]
        row |= {
            "train/opt/q/mean": float(values.mean()),
            "train/opt/q/max": float(values.max()),
            "train/opt/q/min": float(values.min()),
            "train/opt/q/td_error": found["td_error"],
            f"{HOME}/q_policy": float(np.mean(found["own_values"])),
            f"{HOME}/action_distance": float(distance(own.reshape(done.shape), done, self.spaces).mean()),
            f"{HOME}/actions_outside": self.support.pairs_outside(seen, own),
        }
        if self.learned < len(self.data.rewards):
            rest = self.learned + self.random.permutation(len(self.data.rewards) - self.learned)[:SAMPLE]
            row[f"{HOME}/td_error_held_out"] = self.link.ask("measure", rows=rest.tolist())["td_error"]
        return row

    def _constants(self) -> dict[str, float]:
        """What the data allow, the same in every row."""
        gamma, scale = self.options.number("gamma"), self.options.number("reward_scale")
        low, high = self.data.bounds(gamma)
        worth = self.data.values(gamma)
        used = self.data.actions
        spread = 1.0 if self.spaces.is_discrete else float(np.ptp(used, axis=0).min() / 2)
        return {
            f"{HOME}/data_return": float(self.data.returns.mean()) / scale,
            f"{HOME}/data_best": self.data.level(BETTER) / scale,
            f"{HOME}/data_value": float(worth.mean()),
            f"{HOME}/value_low": float(low),
            f"{HOME}/value_high": float(high),
            f"{HOME}/data": float(self.learned),
            f"{HOME}/action_range": spread,
            **self._ends(),
            "train/hp/policy_lr": self.options.number("learning_rate"),
        }

    def _ends(self) -> dict[str, float]:
        """Share of the episodes that end as terminal exactly where a time limit cuts."""
        environment = make_environment(self.recipe)
        limit = getattr(environment.spec, "max_episode_steps", None)
        environment.close()
        if limit is None:
            return {}
        lengths = np.bincount(self.data.episodes)
        ended = np.bincount(self.data.episodes, weights=self.data.terminated) > 0
        return {f"{HOME}/cut_as_end": float(np.mean(ended & (lengths == limit)))}

    def _save(self, path: Path) -> None:
        step = self.link.ask("save", path=str((path / MODEL).resolve()))["grad_step"]
        online = {name: np.asarray(values) for name, values in self.online.items()}
        save_arrays(path / STEPS, {**online, "grad_step": np.asarray(step)})


BACKEND = OfflineBackend()

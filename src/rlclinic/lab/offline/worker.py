"""Trains with d3rlpy in a process of its own: one JSON object a line in, one out.

Run by the Python that has d3rlpy, which does not have this package: it imports numpy, torch and d3rlpy alone. It reads
the arrays that it is told of and writes the checkpoints that it is told of, and nothing else.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import d3rlpy
import numpy as np
import torch
from d3rlpy.algos import (
    CQLConfig,
    DecisionTransformerConfig,
    DiscreteCQLConfig,
    DiscreteDecisionTransformerConfig,
    GreedyTransformerActionSampler,
    IdentityTransformerActionSampler,
    IQLConfig,
    TD3PlusBCConfig,
)
from d3rlpy.constants import ActionSpace
from d3rlpy.dataset import Episode, InfiniteBuffer, ReplayBuffer, TransitionMiniBatch
from d3rlpy.models.encoders import VectorEncoderFactory
from d3rlpy.ope import FQE, DiscreteFQE, FQEConfig
from d3rlpy.preprocessing import StandardObservationScaler

COLUMNS = ("observations", "actions", "rewards", "following", "terminated", "episodes")


class Worker:
    """What is trained, and the rows that it is trained on."""

    def build(self, told: dict[str, Any]) -> dict[str, Any]:
        """Networks and data; weights too, where a checkpoint is named."""
        torch.set_num_threads(1)
        d3rlpy.seed(told["seed"])
        self.random = np.random.default_rng(told["seed"])
        self.settings, self.discrete = told["settings"], told["discrete"]
        self.is_transformer = told["algorithm"] == "DT"
        self.size = int(self.settings["batch_size"])
        with np.load(told["data"], allow_pickle=False) as file:
            self.known = {name: file[name] for name in COLUMNS}
        # The rows after those are only measured by.
        self.rows = {name: values[: told["learned"]] for name, values in self.known.items()}
        self.recent: dict[str, Any] | None = None
        self.shape, self.actions = self.rows["observations"].shape[1:], told["actions"]
        self.algo = self._config(told["algorithm"]).create(device=False)
        self.algo.create_impl(self.shape, self.actions)
        if self.is_transformer:
            self.buffer = self._episodes()
        if told.get("load"):
            self.algo.load_model(told["load"])
            self.algo._grad_step = int(told.get("grad_step", 0))
        self.slots: list[Any] = []
        return {}

    def fit(self, told: dict[str, Any]) -> dict[str, Any]:
        """Update so many times; the mean of each loss."""
        sums: dict[str, float] = {}
        for _ in range(told["steps"]):
            for name, value in self.algo.update(self._batch(told.get("share", 0.0))).items():
                sums[name] = sums.get(name, 0.0) + float(value) / told["steps"]
        return {"losses": sums}

    def add(self, told: dict[str, Any]) -> dict[str, Any]:
        """All rows that were seen online so far."""
        with np.load(told["data"], allow_pickle=False) as file:
            self.recent = {name: file[name] for name in COLUMNS}
        return {}

    def act(self, told: dict[str, Any]) -> dict[str, Any]:
        """Actions for observations; a transformer follows the episode of each slot."""
        seen = np.asarray(told["observations"], dtype=np.float32)
        if not self.is_transformer:
            chosen = self.algo.sample_action(seen) if told.get("explore") else self.algo.predict(seen)
            return {"actions": np.asarray(chosen).tolist()}
        pairs = zip(told["slots"], told["rewards"], seen, strict=True)
        return {"actions": [np.asarray(self.slots[slot].predict(one, paid)).tolist() for slot, paid, one in pairs]}

    def begin(self, told: dict[str, Any]) -> dict[str, Any]:
        """New episodes of a transformer, each after the same return."""
        sampler = GreedyTransformerActionSampler() if self.discrete else IdentityTransformerActionSampler()
        target = float(told["target"])
        self.slots = [self.algo.as_stateful_wrapper(target, sampler) for _ in range(told["count"])]
        return {}

    def measure(self, told: dict[str, Any]) -> dict[str, Any]:
        """Values of rows of the data and of what the policy would do there, and the temporal-difference error."""
        rows = {name: values[np.asarray(told["rows"])] for name, values in self.known.items()}
        seen, following = (rows[name].astype(np.float32) for name in ("observations", "following"))
        own, later = self.algo.predict(seen), self.algo.predict(following)
        actions = rows["actions"].astype(np.int64) if self.discrete else rows["actions"].astype(np.float32)
        values = self.algo.predict_value(seen, actions)
        ahead = self.algo.predict_value(following, later)
        target = rows["rewards"] + self.settings["gamma"] * ~rows["terminated"] * ahead
        return {
            "actions": np.asarray(own).tolist(),
            "values": values.tolist(),
            "own_values": self.algo.predict_value(seen, own).tolist(),
            "td_error": float(np.abs(target - values).mean()),
        }

    def save(self, told: dict[str, Any]) -> dict[str, Any]:
        """Weights and optimisers, as tensors."""
        self.algo.save_model(told["path"])
        return {"grad_step": int(self.algo.grad_step)}

    def fqe(self, told: dict[str, Any]) -> dict[str, Any]:
        """Fitted Q evaluation of the policy as it is: the mean value of the states in which episodes begin."""
        config = FQEConfig(
            gamma=self.settings["gamma"], learning_rate=told["learning_rate"], batch_size=self.size,
            encoder_factory=self._encoder(), observation_scaler=self._scaler(),
        )  # fmt: skip
        judge = (DiscreteFQE if self.discrete else FQE)(algo=self.algo, config=config, device=False)
        judge.create_impl(self.shape, self.actions)
        for _ in range(told["steps"]):
            judge.update(self._batch(0.0))
        first = np.flatnonzero(np.diff(self.rows["episodes"], prepend=-1))
        seen = self.rows["observations"][first].astype(np.float32)
        return {"value": float(judge.predict_value(seen, self.algo.predict(seen)).mean())}

    def _batch(self, share: float) -> Any:
        if self.is_transformer:
            return self.buffer.sample_trajectory_batch(self.size, int(self.settings["context_size"]))
        new = 0 if self.recent is None else round(share * self.size)
        parts = [self._sampled(self.rows, self.size - new)] + ([self._sampled(self.recent, new)] if new else [])
        rows = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}
        column = {name: rows[name].astype(np.float32).reshape(self.size, -1) for name in COLUMNS}
        return TransitionMiniBatch(
            observations=column["observations"], actions=column["actions"], rewards=column["rewards"],
            next_observations=column["following"], next_actions=np.zeros_like(column["actions"]),
            terminals=column["terminated"], intervals=np.ones((self.size, 1), dtype=np.float32), transitions=[],
        )  # fmt: skip

    def _sampled(self, rows: Any, count: int) -> dict[str, Any]:
        chosen = self.random.integers(len(rows["rewards"]), size=count)
        return {name: values[chosen] for name, values in rows.items()}

    def _episodes(self) -> Any:
        found = []
        for number in np.unique(self.rows["episodes"]):
            rows = {name: values[self.rows["episodes"] == number] for name, values in self.rows.items()}
            kind = np.int32 if self.discrete else np.float32
            actions = rows["actions"].astype(kind).reshape(len(rows["rewards"]), -1)
            rewards = rows["rewards"].astype(np.float32)[:, None]
            ended = bool(rows["terminated"][-1])
            found.append(Episode(rows["observations"].astype(np.float32), actions, rewards, ended))
        kind = ActionSpace.DISCRETE if self.discrete else ActionSpace.CONTINUOUS
        return ReplayBuffer(InfiniteBuffer(), episodes=found, action_space=kind, action_size=self.actions)

    def _encoder(self) -> Any:
        units, activation = list(self.settings["net_arch"]), str(self.settings["activation"])
        return VectorEncoderFactory(hidden_units=units, activation=activation, dropout_rate=self.settings["dropout"])

    def _scaler(self) -> Any:
        if not self.settings["normalize_obs"]:
            return None
        spread = self.rows["observations"].std(axis=0)
        mean = self.rows["observations"].mean(axis=0)
        return StandardObservationScaler(mean=mean, std=np.where(spread > 1e-6, spread, 1.0))

    def _config(self, algorithm: str) -> Any:
        own, encoder = self.settings, self._encoder()
        common = {"batch_size": self.size, "gamma": own["gamma"], "observation_scaler": self._scaler()}
        weight = max(float(own.get("conservative_weight") or 0.0), 1e-9)
        if algorithm == "DT":
            units = own["net_arch"][-1]
            encoder = VectorEncoderFactory(hidden_units=[units], exclude_last_activation=not self.discrete)
            words = {
                **common, "learning_rate": own["learning_rate"], "encoder_factory": encoder, "num_heads": 1,
                "num_layers": 2, "context_size": int(own["context_size"]),
            }  # fmt: skip
            if self.discrete:
                return DiscreteDecisionTransformerConfig(**words, warmup_tokens=1, final_tokens=10**12)
            return DecisionTransformerConfig(**words)
        if self.discrete:
            return DiscreteCQLConfig(
                **common, learning_rate=own["learning_rate"], alpha=own["conservative_weight"],
                target_update_interval=int(own["target_update_interval"]), n_critics=int(own["n_critics"]),
                encoder_factory=encoder,
            )  # fmt: skip
        words = {
            **common, "actor_learning_rate": own["learning_rate"], "tau": own["tau"],
            "critic_learning_rate": own["learning_rate_critic"] or own["learning_rate"],
            "n_critics": int(own["n_critics"]), "actor_encoder_factory": encoder, "critic_encoder_factory": encoder,
        }  # fmt: skip
        if algorithm == "TD3PLUSBC":
            return TD3PlusBCConfig(**words, alpha=1.0 / weight)
        if algorithm == "IQL":
            expert = {"expectile": own["expectile"], "weight_temp": 1.0 / weight}
            return IQLConfig(**words, **expert, value_encoder_factory=encoder)
        # With a rate of 0 for its multiplier the weight stays what it is.
        return CQLConfig(**words, conservative_weight=own["conservative_weight"], alpha_learning_rate=0.0)


def main() -> None:
    """Answer until the input ends, on a line of its own: d3rlpy prints what it likes."""
    answers = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8")
    worker = Worker()
    for line in sys.stdin:
        told = json.loads(line)
        try:
            answer = getattr(worker, told["do"])(told)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()

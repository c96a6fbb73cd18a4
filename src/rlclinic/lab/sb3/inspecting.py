"""Look inside a trained model: gradients by episode, values against returns, what one update changes, idle units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback

from rlclinic.lab.instruments.activations import Activations
from rlclinic.lab.sb3.playing import model_of

STATES = 2000
"""States on which actions before and after an update are compared."""
LONGEST = 1000
MOST_NUMBERS = 512
PLAYED = 20_000
"""Steps after which no further episode is begun."""


def inspect_run(path: str, episodes: int) -> dict[str, Any]:
    """Plain numbers about the model of a run of `rlclinic train`, from episodes of its own policy."""
    recipe, model = model_of(Path(path))
    gamma = recipe.number("gamma") or 0.99
    played: list[dict[str, Any]] = []
    while len(played) < episodes and sum(len(one["rewards"]) for one in played) < PLAYED:
        played.append(_episode(model, gamma))
    states = torch.cat([one["states"] for one in played])
    found: dict[str, Any] = {
        "algorithm": recipe.algorithm,
        "batch": recipe.number("batch_size") or recipe.number("n_steps"),
        "gamma": gamma,
        "states": [one["raw"] for one in played],
        "values": [one["values"] for one in played],
        "returns": [one["returns"] for one in played],
        "rewards": [float(max(one["rewards"])) for one in played],
        "lengths": [len(one["rewards"]) for one in played],
        "ended": [one["terminated"] for one in played],
    }
    if hasattr(model, "rollout_buffer"):
        found["gradients"] = _gradients(model, played)
    with Activations(model.policy) as activations, torch.no_grad():
        model.policy._predict(states[:STATES], deterministic=True)
    found["units"] = activations.columns()
    before = _greedy(model, states[:STATES])
    _update(model, played)
    after = _greedy(model, states[:STATES])
    if before.dtype.kind in "iu":
        found["churn"] = float((before != after).reshape(len(before), -1).any(axis=1).mean())
    else:
        found["moved"] = float(np.abs(after - before).mean() / max(float(before.std()), 1e-9))
    return found


def _episode(model: Any, gamma: float) -> dict[str, Any]:
    """One episode as training sees it: states and rewards normalised, actions drawn."""
    env: Any = model.get_env()
    rows: list[tuple[Any, ...]] = []
    raw: list[list[float]] = []
    plain = getattr(env, "get_original_obs", None)
    seen, over, cut = env.reset(), False, False
    while not over and len(rows) < LONGEST:
        state, _ = model.policy.obs_to_tensor(seen)
        raw.append(np.ravel(plain() if plain else seen)[:MOST_NUMBERS].astype(float).tolist())
        with torch.no_grad():
            action = model.policy._predict(state, deterministic=False)
        done = action.cpu().numpy()
        acted = np.clip(done, env.action_space.low, env.action_space.high) if done.dtype.kind == "f" else done
        unscaled = getattr(model.policy, "unscale_action", None)
        if unscaled is not None and getattr(model.policy, "squash_output", False):
            acted = unscaled(done)
        after, reward, ended, info = env.step(acted)
        over = bool(ended[0])
        cut = bool(info[0].get("TimeLimit.truncated", False))
        last = info[0]["terminal_observation"] if over and cut else None
        rows.append(
            (seen, state, action, float(reward[0]), _value(model, state, action), after, over and not cut, last)
        )
        seen = after
    terminated = over and not cut
    tail = 0.0
    if not terminated:
        state, _ = model.policy.obs_to_tensor(np.asarray(rows[-1][7])[None] if rows[-1][7] is not None else seen)
        with torch.no_grad():
            tail = _value(model, state, model.policy._predict(state, deterministic=False))
    returns, total = [], tail
    for row in reversed(rows):
        total = row[3] + gamma * total
        returns.append(total)
    return {
        "states": torch.cat([row[1] for row in rows]).float(),
        "raw": raw,
        "actions": torch.cat([row[2] for row in rows]),
        "rewards": [row[3] for row in rows],
        "values": [row[4] for row in rows],
        "returns": returns[::-1],
        "rows": rows,
        "terminated": terminated,
    }


def _value(model: Any, state: Any, action: Any) -> float:
    """The model's value of a state, or of a state and the action taken in it."""
    with torch.no_grad():
        if hasattr(model.policy, "predict_values"):
            return float(model.policy.predict_values(state))
        if hasattr(model, "q_net"):
            return float(model.q_net(state).flatten()[int(action)])
        return float(min(value.min() for value in model.critic(state, action.reshape(1, -1))))


def _gradients(model: Any, played: list[dict[str, Any]]) -> dict[str, list[list[float]]]:
    """Inner products of the gradients of whole episodes, of the policy's loss and of the value's, before any update."""
    policy, length = model.policy, float(np.mean([len(one["rewards"]) for one in played]))
    advantages = [np.subtract(one["returns"], one["values"]) for one in played]
    every = np.concatenate(advantages)
    rows: dict[str, list[Any]] = {"policy": [], "value": []}
    parameters = [parameter for parameter in policy.parameters() if parameter.requires_grad]
    for one, raw in zip(played, advantages, strict=True):
        # Normalised over all episodes, or each would belong to a loss of its own.
        weight = torch.as_tensor((raw - every.mean()) / (every.std() + 1e-8), dtype=torch.float32)
        target = torch.as_tensor(one["returns"], dtype=torch.float32)
        values, log_prob, _ = policy.evaluate_actions(one["states"], one["actions"])
        losses = {
            "policy": -(weight * log_prob).sum() / length,
            "value": ((target - values.flatten()) ** 2).sum() / length,
        }
        for name, loss in losses.items():
            found = torch.autograd.grad(loss, parameters, retain_graph=name == "policy", allow_unused=True)
            parts = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]
            rows[name].append(torch.cat([part.flatten() for part in parts]).double())
    stacked = {name: torch.stack(values) for name, values in rows.items()}
    return {name: (matrix @ matrix.T).tolist() for name, matrix in stacked.items()}


def _greedy(model: Any, states: Any) -> Any:
    with torch.no_grad():
        return model.policy._predict(states, deterministic=True).cpu().numpy()


class _OneUpdate(BaseCallback):
    """Ends training as the second collection of steps begins."""

    collections = 0

    def _on_rollout_start(self) -> None:
        self.collections += 1

    def _on_step(self) -> bool:
        return self.collections < 2


def _update(model: Any, played: list[dict[str, Any]]) -> None:
    """One update by the run's own algorithm and settings, on steps of its own policy."""
    buffer = getattr(model, "replay_buffer", None)
    if buffer is not None:
        for one in played:
            for seen, _, action, reward, _, after, ended, last in one["rows"]:
                following = np.asarray(last)[None] if last is not None else after
                buffer.add(seen, following, action.cpu().numpy(), np.array([reward]), np.array([ended]), [{}])
        model.policy.set_training_mode(mode=True)
        model._logger = _Silent()
        model.train(gradient_steps=1, batch_size=model.batch_size)
        return
    model.learn(10 * model.n_steps, callback=_OneUpdate(), reset_num_timesteps=False)


class _Silent:
    """A logger that keeps nothing."""

    def record(self, *_: object, **__: object) -> None:
        """Nothing."""

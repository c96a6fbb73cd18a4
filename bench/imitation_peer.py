"""`python -m bench.imitation_peer PYTHON [NAME ...] [--seeds N]`: our cloning and DAgger beside those of `imitation`.

PYTHON is the interpreter of an environment with `imitation==1.0.1 stable-baselines3==2.2.1 gymnasium==0.29.1 numpy<2
pyarrow<20`; this file runs in it too. Both clone the same steps of an expert, with the same network, batches and number
of updates; DAgger has the same expert, rounds and beta. What was found is a line of bench/imitation_peer.jsonl.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench import imitation_experts

RECORD = Path(__file__).with_suffix(".jsonl")
# Labels that are cloned, few enough that cloning is not perfect; episodes of an evaluation; updates of a fit.
CLONED = {"cartpole": 60, "acrobot": 60, "pendulum": 1000}
EPISODES, UPDATES = 20, 1000


def main(python: str, names: list[str], seeds: int) -> None:
    """Record what is missing."""
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    known = {(row["name"], row["seed"]) for row in map(json.loads, lines)}
    for seed in range(seeds):
        for name in names or (*(f"{task}/bc" for task in CLONED), "cartpole/dagger", "pendulum/dagger"):
            if (name, seed) not in known:
                row = _both(python, name, seed)
                with RECORD.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                print(row, flush=True)


def _both(python: str, name: str, seed: int) -> dict[str, Any]:
    from bench.imitation import TASKS
    from rlclinic.lab.imitation.asking import imitation_recipe
    from rlclinic.lab.train import train
    from rlclinic.model.run import Status
    from rlclinic.readers.open import read

    task, _, what = name.partition("/")
    made = TASKS[task]
    expert = f"bench.imitation_experts:{made.expert}"
    with tempfile.TemporaryDirectory() as folder:
        settings = [f"seed={seed}", f"eval_episodes={EPISODES}"]
        if what == "bc":
            expert = str(Path(folder) / "demos.npz")
            labels = CLONED[task]
            _demonstrate(made.environment, getattr(imitation_experts, made.expert), labels, seed, expert)
            settings += [f"n_steps={labels}", f"total_steps={labels}"]
        else:
            settings += [f"n_steps={made.n_steps}", f"total_steps={made.rounds * made.n_steps}"]
        recipe = imitation_recipe(made.environment, expert, what, settings)
        run = read(train(recipe.with_changes({"stop_at_threshold": False}), folder))
        if run.status.state is not Status.FINISHED:
            raise SystemExit(f"{name} was stopped on the way and is not recorded")
        ours = run.series["return/eval"].values
        told = [made.environment, made.expert, what, str(seed), expert, str(made.n_steps), str(made.rounds)]
        command = [python, "-m", "bench.imitation_peer", "--peer", *told]
        theirs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    return {"name": name, "seed": seed, "ours": round(float(ours[-1]), 2), **theirs}


def _demonstrate(environment: str, expert: Any, labels: int, seed: int, path: str) -> None:
    """So many steps of the expert, in the columns of a data set."""
    import gymnasium

    world = gymnasium.make(environment)
    rows: dict[str, list[Any]] = {
        name: [] for name in ("observations", "actions", "rewards", "terminated", "truncated", "episodes")
    }
    seen, _ = world.reset(seed=1000 + seed)
    episode = 0
    for step in range(labels):
        action = np.asarray(expert(seen))
        after, reward, terminated, truncated, _ = world.step(action)
        cut = truncated or (step == labels - 1 and not terminated)
        for values, value in zip(rows.values(), (seen, action, reward, terminated, cut, episode), strict=True):
            values.append(value)
        seen = after
        if terminated or truncated:
            seen, _ = world.reset()
            episode += 1
    np.savez(path, env_id=np.asarray(environment), **{name: np.asarray(values) for name, values in rows.items()})


def peer(environment: str, expert: str, what: str, seed: int, demos: str, n_steps: int, rounds: int) -> dict[str, Any]:
    """The same by `imitation`, in its own environment."""
    import gymnasium
    from imitation.algorithms.bc import BC
    from imitation.algorithms.dagger import SimpleDAggerTrainer
    from imitation.data.types import Transitions
    from imitation.data.wrappers import RolloutInfoWrapper
    from imitation.policies.base import NonTrainablePolicy
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.policies import ActorCriticPolicy
    from stable_baselines3.common.vec_env import DummyVecEnv

    class Thumb(NonTrainablePolicy):  # type: ignore[misc]
        def _choose_action(self, obs: Any) -> Any:
            return np.asarray(getattr(imitation_experts, expert)(obs), dtype=self.action_space.dtype)

    def world(start: int) -> Any:
        found = DummyVecEnv([lambda: RolloutInfoWrapper(gymnasium.make(environment))])
        found.seed(start)
        return found

    practice = world(seed)
    spaces = {"observation_space": practice.observation_space, "action_space": practice.action_space}
    policy = ActorCriticPolicy(*spaces.values(), lambda _: 1e-3, net_arch=[64, 64])
    words = {"rng": np.random.default_rng(seed), "policy": policy, "optimizer_kwargs": {"lr": 1e-3}, **spaces}
    fitted = {"n_batches": UPDATES, "progress_bar": False, "log_interval": 100_000}
    if what == "bc":
        with np.load(demos) as file:
            states, actions = file["observations"].astype(np.float32), file["actions"]
        kept = np.arange(len(states)) % 10 != 9
        # What follows a state is stacked by the library and not learned from.
        rows, count = states[kept], int(kept.sum())
        steps = Transitions(rows, actions[kept], np.asarray([{}] * count), rows, np.zeros(count, dtype=bool))
        trainer = BC(demonstrations=steps, batch_size=min(64, len(steps)), **words)
        trainer.train(**fitted)
        labels = len(states)
    else:
        trainer = BC(batch_size=min(64, n_steps), **words)
        with tempfile.TemporaryDirectory() as scratch:
            rounds_of = SimpleDAggerTrainer(
                venv=practice, scratch_dir=scratch, expert_policy=Thumb(*spaces.values()), bc_trainer=trainer,
                beta_schedule=lambda number: float(number == 0), rng=np.random.default_rng(seed),
            )  # fmt: skip
            sizes = {"rollout_round_min_episodes": 1, "rollout_round_min_timesteps": n_steps}
            rounds_of.train(rounds * n_steps, **sizes, bc_train_kwargs=fitted)
            labels = sum(len(one) for one in rounds_of._all_demos)
    mean, _ = evaluate_policy(trainer.policy, world(50_000 + seed), EPISODES, deterministic=True, warn=False)
    return {"theirs": round(float(mean), 2), "labels": labels}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("python", nargs="?", default=sys.executable)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--peer", nargs=7)
    told = parser.parse_args()
    if told.peer:
        environment, expert, what, seed, demos, n_steps, rounds = told.peer
        print(json.dumps(peer(environment, expert, what, int(seed), demos, int(n_steps), int(rounds))))
    else:
        main(told.python, told.names, told.seeds)

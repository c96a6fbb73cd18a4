"""Recorded runs that the tests of rules share, each read once."""

from __future__ import annotations

from functools import cache

from rlclinic.readers.open import read
from rlclinic.rules.patient import Patient
from tests.conftest import RUNS

# Runs that learn, or had no time to: no rule may say more than a note about them.
HEALTHY = (
    "sb3/ppo_cartpole",
    "sb3/ppo_cartpole_vec4",
    "sb3/ppo_cartpole_resumed",
    "sb3/ppo_cartpole_no_monitor",
    "sb3/ppo_cartpole_killed",
    "sb3/dqn_cartpole",
    "sb3/a2c_cartpole",
    "sb3/sac_pendulum",
    "sb3/td3_pendulum",
    "zoo/ppo_cartpole/logs/ppo/CartPole-v1_1",
    "zoo/ppo_cartpole/tb/CartPole-v1/PPO_1",
    "zoo/old_encoding/ppo/CartPole-v1_1",
    "cleanrl/ppo_cartpole/runs/*",
    "cleanrl/dqn_cartpole/runs/*",
    "torchrl/ppo_cartpole_csv/csv_logs/*",
    "hydra/ppo_acrobot/outputs/*/*",
    "rllib/ppo_cartpole/PPO_*",
    "rsl_rl/cartpole",
    "legged_gym/logs/flat_cartpole/*",
    "skrl/ppo_cartpole/runs/*",
    "tianshou/dqn_cartpole/log/CartPole-v1/dqn",
    "d3rlpy/cql_cartpole_offline/d3rlpy_logs/*",
    "d3rlpy/dqn_cartpole_online/d3rlpy_logs/*",
    "sample_factory/train_dir/cartpole",
    "gymnasium_solver/runs/local-20260115-103000",
    "spinningup/ppo/ppo_s0",
    "baselines/ppo2",
    "baselines/deepq",
    "trackio/frozenlake.db",
    "wandb/finished/wandb/*",
    "trl/grpo_tiny",
    "trl/console_v0.17",
    "verl/grpo_v0.4",
    "verl/grpo_v0.5",
    "verl/ppo_v0.1",
    "search_r1/grpo",
    "openrlhf/grpo",
    "nemo_rl/grpo",
    "slime/grpo",
    "prime_rl/grpo",
    "faults/solved_ppo_cartpole",
    "faults/rising_ppo_cartpole",
    "faults/unusual_ppo_cartpole",
    "faults/healthy_a2c_cartpole",
    "faults/healthy_dqn_cartpole",
    "faults/healthy_ppo_acrobot",
    "faults/healthy_sac_pendulum",
)


@cache
def recorded(name: str) -> Patient:
    """The run below `tests/fixtures/runs` that a pattern names."""
    (path,) = RUNS.glob(name)
    return Patient(read(path))


def fault(name: str) -> Patient:
    """A run with a known fault."""
    return recorded(f"faults/{name}")

"""The hook of TorchRL's Trainer follows it, changes nothing, and stops it on request; so does a loop of one's own."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")
with warnings.catch_warnings():
    # The library warns of itself as it loads.
    warnings.simplefilter("ignore")
    from rlclinic.live.callbacks.torchrl import ClinicHook

from rlclinic.lab.asking import asked  # noqa: E402
from rlclinic.lab.train import train  # noqa: E402
from rlclinic.live.follow import Follower  # noqa: E402
from rlclinic.live.monitor import monitor  # noqa: E402
from rlclinic.readers.discover import ref_of_folder  # noqa: E402


def trainer(hook: ClinicHook | None, *, frames: int = 256, poison: bool = False) -> Any:
    """A small PPO on Pendulum."""
    from tensordict.nn import NormalParamExtractor, TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.envs import GymEnv, RewardSum, StepCounter, TransformedEnv
    from torchrl.modules import ProbabilisticActor, TanhNormal, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE
    from torchrl.trainers import Trainer

    torch.set_num_threads(1)
    torch.manual_seed(0)
    env = TransformedEnv(GymEnv("Pendulum-v1"))
    env.append_transform(StepCounter(max_steps=30))
    env.append_transform(RewardSum())
    env.set_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2), NormalParamExtractor())
    actor = ProbabilisticActor(
        TensorDictModule(layers, ["observation"], ["loc", "scale"]),
        in_keys=["loc", "scale"], spec=env.action_spec, distribution_class=TanhNormal, return_log_prob=True,
    )  # fmt: skip
    critic = ValueOperator(
        torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)), ["observation"]
    )
    loss = ClipPPOLoss(actor, critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    made = Trainer(
        collector=Collector(env, actor, frames_per_batch=64, total_frames=frames),
        total_frames=frames, frame_skip=1, loss_module=loss, optimizer=optimizer, optim_steps_per_batch=2,
        progress_bar=False, clip_grad_norm=True, clip_norm=1.0, seed=0,
    )  # fmt: skip
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)

    def process(batch: Any) -> Any:
        advantage(batch)
        if poison:
            batch["value_target"] = batch["value_target"] * math.nan
        return batch.reshape(-1)

    made.register_op("batch_process", process)
    if hook is not None:
        hook.register(made)
    made.train()
    return made


def same(one: Any, other: Any) -> bool:
    """Whether two states are equal, number by number."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(part, other[key]) for key, part in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return torch.equal(one, other) if isinstance(one, torch.Tensor) else bool(one == other)


def weights(made: Any) -> list[Any]:
    return [parameter.detach().clone() for parameter in made.loss_module.parameters()]


@pytest.mark.filterwarnings("ignore")
def test_a_trainer_is_followed_and_trains_the_same_bit_for_bit() -> None:
    hook = ClinicHook(sinks=[], share=1.0, algorithm="PPO", budget=256)
    with_it = weights(trainer(hook))
    drawn = torch.get_rng_state()
    without = weights(trainer(None))
    assert torch.equal(drawn, torch.get_rng_state())
    assert all(torch.equal(one, other) for one, other in zip(with_it, without, strict=True))
    assert hook.monitor.guard.off == {}
    run = hook.monitor.record.run()
    wanted = {
        "return/train",
        "advantage/abs_max",
        "explained_variance",
        "action_std/min",
        "grad_norm/actor",
        "log_prob/mean",
    }
    wanted |= {"time/environment_share", "time/inference_share", "time/learning_share", "system/memory_mb"}
    assert wanted <= set(run.series), wanted - set(run.series)
    assert run.steps == 256


def replaying(hook: ClinicHook | None) -> Any:
    """A small SAC on Pendulum, whose critics drop some of what they see."""
    from tensordict.nn import NormalParamExtractor, TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
    from torchrl.envs import GymEnv
    from torchrl.modules import ProbabilisticActor, TanhNormal, ValueOperator
    from torchrl.objectives import SACLoss
    from torchrl.trainers import ReplayBufferTrainer, Trainer

    torch.set_num_threads(1)
    torch.manual_seed(0)
    env = GymEnv("Pendulum-v1")
    env.set_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2), NormalParamExtractor())
    actor = ProbabilisticActor(
        TensorDictModule(layers, ["observation"], ["loc", "scale"]),
        in_keys=["loc", "scale"], spec=env.action_spec, distribution_class=TanhNormal, return_log_prob=False,
    )  # fmt: skip

    class Critic(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            first = torch.nn.Linear(4, 8)
            self.layers = torch.nn.Sequential(first, torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(8, 1))

        def forward(self, observation: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
            return self.layers(torch.cat([observation, action], dim=-1))

    loss = SACLoss(actor, ValueOperator(Critic(), ["observation", "action"]))
    made = Trainer(
        collector=Collector(env, actor, frames_per_batch=32, total_frames=128), total_frames=128, frame_skip=1,
        loss_module=loss, optimizer=torch.optim.Adam(loss.parameters(), lr=1e-3), optim_steps_per_batch=2,
        progress_bar=False, seed=0,
    )  # fmt: skip
    memory = TensorDictReplayBuffer(storage=LazyTensorStorage(128), batch_size=16)
    ReplayBufferTrainer(memory, batch_size=16, flatten_tensordicts=True).register(made)
    if hook is not None:
        hook.register(made)
    made.train()
    return made


@pytest.mark.filterwarnings("ignore")
def test_critics_of_a_trainer_with_a_replay_buffer_are_asked_without_a_trace() -> None:
    hook = ClinicHook(sinks=[], share=1.0, algorithm="SAC", budget=128)
    with_it = weights(replaying(hook))
    drawn = torch.get_rng_state()
    without = weights(replaying(None))
    assert torch.equal(drawn, torch.get_rng_state())
    assert all(torch.equal(one, other) for one, other in zip(with_it, without, strict=True))
    assert hook.monitor.guard.off == {}
    run = hook.monitor.record.run()
    wanted = {"q/mean", "q/spread", "q1/mean", "entropy", "alpha", "update_to_data", "grad_norm/actor"}
    assert wanted <= set(run.series), wanted - set(run.series)
    assert run.series["update_to_data"].last == 8 / 128


@pytest.mark.filterwarnings("ignore")
def test_a_broken_trainer_is_stopped_on_request() -> None:
    hook = ClinicHook(sinks=[], share=1.0, algorithm="PPO", budget=10_000, on_error="stop")
    made = trainer(hook, frames=10_000, poison=True)
    assert made.collected_frames < 2_000
    assert "NaN" in hook.monitor.stop_reason


@pytest.mark.parametrize(("algorithm", "steps"), [("ppo", 512), ("sac", 160), ("mm-rkhs", 512)])
def test_the_labs_own_trainers_are_the_same_bit_for_bit_while_they_are_watched(
    tmp_path: Path, algorithm: str, steps: int
) -> None:
    changes = [f"total_steps={steps}", "seed=1"]
    if algorithm == "sac":
        changes.append("learning_starts=100")
    else:
        changes += ["n_envs=2", "n_steps=64"]
    recipe = asked(f"Pendulum-v1:{algorithm}", tuple(changes), framework="torchrl").recipe
    recipe = replace(recipe, eval_every=0, log_every=20)
    follower: list[Follower] = []
    following = monitor(sinks=[], share=0.5, budget=steps)

    def watch(progress: Any) -> None:
        """Follows the files and feeds a monitor, in the process and between the steps of the training."""
        ref = ref_of_folder(tmp_path / "watched" / progress.run) if not follower else None
        if ref is not None:
            follower.append(Follower(ref))
        run = follower[0].poll() if follower else None
        following.log({"fps": progress.steps_per_second, "steps": run.steps if run else 0.0}, progress.env_steps)

    watched = train(recipe, tmp_path / "watched", progress=watch)
    plain = train(recipe, tmp_path / "plain")
    assert follower
    assert following.record.points > 0
    assert following.guard.off == {}
    states = [sorted((path / "checkpoints").glob("*/*.pt")) for path in (watched, plain)]
    assert states[0]
    for ours, theirs in zip(*states, strict=True):
        one, other = torch.load(ours, weights_only=True), torch.load(theirs, weights_only=True)
        assert same(one, other)

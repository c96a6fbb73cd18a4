"""Real trainers of Hugging Face, Lightning and RLlib, and real trackers. `make test-live` installs what they need."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rlclinic
from rlclinic.live.guard import Guard
from rlclinic.live.publish import Publisher
from rlclinic.live.sinks import make_sink
from tests.live.test_sinks import alert

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]
METRICS = {"diagnostics/explained_variance": 0.5, "gradients/actor_grad_norm": 1.25}


@pytest.fixture(scope="module", autouse=True)
def trackio_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Trackio settles where its files go when it is imported, and TRL imports it."""
    folder = tmp_path_factory.mktemp("trackio")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRACKIO_DIR", str(folder))
        patch.setenv("HF_HOME", str(folder))
        yield folder


@pytest.mark.parametrize("poisoned", [False, True])
def test_a_trainer_of_hugging_face_is_followed_and_stopped_on_request(tmp_path: Path, poisoned: bool) -> None:  # noqa: FBT001
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    import torch

    from rlclinic.live.callbacks.transformers import ClinicTrainerCallback

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)
            self.steps = 0

        def forward(self, x: Any, labels: Any = None) -> dict[str, Any]:
            self.steps += 1
            loss = ((self.layer(x) - labels) ** 2).mean()
            return {"loss": loss * math.nan if poisoned and self.steps > 20 else loss}

    class Rewards(transformers.TrainerCallback):
        """What a trainer of TRL logs beside the loss."""

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            logs["reward"], logs["kl"] = (
                0.1 * state.global_step,
                math.nan if poisoned and state.global_step > 20 else 0.01,
            )

    data = [{"x": torch.ones(2), "labels": torch.ones(1)} for _ in range(8)]
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), max_steps=60, per_device_train_batch_size=2, logging_steps=1, report_to=[],
        use_cpu=True, disable_tqdm=True, save_strategy="no", logging_nan_inf_filter=False, remove_unused_columns=False,
    )  # fmt: skip
    callback = ClinicTrainerCallback(sinks=[], share=1.0, on_error="stop")
    trainer = transformers.Trainer(Model(), arguments, train_dataset=data, callbacks=[Rewards(), callback])
    trainer.train()
    assert callback.monitor.guard.off == {}
    assert callback.monitor.record.about.budget == 60
    assert "return/train" in callback.monitor.record.run()
    assert trainer.state.global_step == 60 if not poisoned else 20 < trainer.state.global_step < 60


def test_a_trainer_of_trl_is_followed(tmp_path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("trl")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.syspath_prepend(runs.parent / "make")
    monkeypatch.chdir(tmp_path)
    import trl_run

    from rlclinic.live.callbacks.transformers import ClinicTrainerCallback

    callback = ClinicTrainerCallback(sinks=[], share=1.0)
    trainer = trl_run.trainer([trl_run.good_share], max_steps=12)
    trainer.add_callback(callback)
    trainer.train()
    run = callback.monitor.record.run()
    assert callback.monitor.guard.off == {}
    assert (run.algorithm, run.budget, run.steps) == ("GRPO", 12, 12)
    assert {"return/train", "kl_ref", "entropy", "reward/good_share"} <= run.series.keys()
    assert callback.monitor.diagnosis is not None


def _decides(rank: int, store: str) -> None:
    import torch.distributed

    from rlclinic.live.callbacks.transformers import _any_process

    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    assert _any_process(rank == 0, "cpu")
    assert not _any_process(False, "cpu")
    torch.distributed.destroy_process_group()


def test_processes_that_train_together_stop_together(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    multiprocessing = pytest.importorskip("torch.multiprocessing")
    multiprocessing.spawn(_decides, args=(str(tmp_path / "store"),), nprocs=2)


def test_a_trainer_of_lightning_is_followed_and_stopped_with_a_checkpoint(tmp_path: Path) -> None:
    lightning = pytest.importorskip("lightning.pytorch")
    import torch

    from rlclinic.live.callbacks.lightning import ClinicLightningCallback

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)
            self.env_steps = 0

        def training_step(self, batch: Any, index: int) -> Any:
            self.env_steps += 100
            loss = self.layer(batch).pow(2).mean()
            broken = math.nan if index > 30 else 1.0
            self.log_dict({"policy_loss": loss * broken, "value_loss": loss * broken, "return": float(index)})
            return loss

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    path = tmp_path / "stopped.ckpt"
    callback = ClinicLightningCallback(sinks=[], share=1.0, every=1, on_error="stop", checkpoint=path, budget=20_000)
    trainer = lightning.Trainer(
        max_epochs=1, callbacks=[callback], accelerator="cpu", logger=False, enable_progress_bar=False,
        enable_checkpointing=False, enable_model_summary=False, default_root_dir=tmp_path,
    )  # fmt: skip
    trainer.fit(Module(), torch.utils.data.DataLoader(torch.ones(200, 2), batch_size=1))
    assert callback.monitor.guard.off == {}
    assert 30 < trainer.global_step < 60
    assert path.exists()


def test_results_of_rllib_are_followed_and_marked_as_done_on_request() -> None:
    pytest.importorskip("ray.rllib.callbacks.callbacks")
    from rlclinic.live.callbacks.rllib import clinic_callbacks

    callbacks = clinic_callbacks(sinks=[], share=1.0, on_error="stop", budget=100_000)()

    class PPO:
        """Stands for the algorithm, of which only the name is used."""

    for iteration in range(1, 41):
        loss = math.nan if iteration > 20 else 1.0
        learner = {"policy_loss": loss, "vf_loss": loss, "mean_kl_loss": 0.01, "entropy": 0.5}
        result: dict[str, Any] = {
            "training_iteration": iteration,
            "env_runners": {"episode_return_mean": float(iteration)},
            "num_env_steps_sampled_lifetime": iteration * 1_000,
            "learners": {"default_policy": learner},
            "config": {"lr": 1e-3},
        }
        callbacks.on_train_result(algorithm=PPO(), result=result)
        if result.get("done"):
            break
    assert 20 < iteration < 25
    run = callbacks.monitor.record.run()
    assert run.algorithm == "PPO"
    assert run["return/train"].last == iteration


def test_diagnostics_and_alerts_reach_an_offline_run_of_wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = wandb.init(mode="offline", dir=str(tmp_path), project="live")
    guard = Guard()
    Publisher(guard).write(METRICS, 10)
    make_sink("wandb").send([alert()])
    run.log({"mine": 1.0}, step=10)
    run.finish()
    assert guard.off == {}
    read = rlclinic.read(next(tmp_path.rglob("offline-run-*")))
    assert {series.logged_as for series in read.series.values()} >= {"mine", *METRICS}


def test_diagnostics_reach_a_file_store_of_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri(f"file://{tmp_path}")
    mlflow.set_experiment("live")
    guard = Guard()
    with mlflow.start_run() as run:
        Publisher(guard).write(METRICS, 10)
    assert guard.off == {}
    assert mlflow.get_run(run.info.run_id).data.metrics == METRICS


def test_diagnostics_and_alerts_reach_a_run_of_trackio(trackio_folder: Path) -> None:
    trackio = pytest.importorskip("trackio")
    trackio.init(project="live", name="one", embed=False, auto_log_gpu=False)
    guard = Guard()
    Publisher(guard).write(METRICS, 10)
    make_sink("trackio").send([alert()])
    trackio.finish()
    assert guard.off == {}
    read = rlclinic.read(next(trackio_folder.rglob("*.db")))
    assert {series.logged_as for series in read.series.values()} >= set(METRICS)

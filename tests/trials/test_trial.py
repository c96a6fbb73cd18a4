"""Whole trials: with a user's own command, and with rlclinic's trainer."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rlclinic.model.prescription import Change
from rlclinic.model.trial import BASELINE, Outcome, OutcomeState, TrialVerdict
from rlclinic.store.effects import measured_effects
from rlclinic.store.ledger import Ledger
from rlclinic.trials.plan import Arm, Job, TrialPlan, plan_from
from rlclinic.trials.runners import runner_for
from rlclinic.trials.trial import judged, run_trial

TRAINER = Path(__file__).parent / "trainer.py"
COMMAND = (
    f"{sys.executable} {TRAINER} --lr {{learning_rate}} --seed {{seed}} --steps {{total_steps}} --logdir {{logdir}}"
)


def plan(after: float, command: str = COMMAND, seeds: int = 3) -> TrialPlan:
    change = Change("learning_rate", "lr", 0.001, after)
    return TrialPlan(
        run="r",
        environment="Bandit",
        algorithm="PPO",
        arms=(Arm(BASELINE), Arm("change", (change,), ("learning-rate-too-low",))),
        seeds=tuple(range(seeds)),
        budget=200,
        threshold=50.0,
        config={"learning_rate": 0.001},
        command=command,
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "trials.sqlite")


def test_a_change_that_helps_the_users_own_trainer_is_proved(ledger: Ledger, tmp_path: Path) -> None:
    trial = run_trial(plan(0.3), runner_for("local", 2), ledger=ledger, root=tmp_path)
    assert trial.leading.verdict is TrialVerdict.PROVED, trial.leading.reason
    steps = trial.leading.effect("steps-to-threshold")
    assert steps is not None
    assert steps.before == pytest.approx(200)
    assert steps.after < 60
    row, regained = measured_effects(ledger)
    assert (row.cause, row.direction, row.n_seeds) == ("learning-rate-too-low", "up", 3)
    assert row.effect == pytest.approx(steps.relative)
    assert (regained.metric, regained.cause) == ("missing-return", "learning-rate-too-low")


def test_a_change_that_harms_is_refuted(ledger: Ledger, tmp_path: Path) -> None:
    harmful = replace(plan(0.0001), config={"learning_rate": 0.3})
    assert run_trial(harmful, runner_for("local", 2), ledger=ledger, root=tmp_path).leading.verdict is (
        TrialVerdict.REFUTED
    )


def test_a_killed_trial_goes_on_where_it_was(ledger: Ledger, tmp_path: Path) -> None:
    class Killed(Exception):  # noqa: N818 - stands for a kill of the whole process
        pass

    def killed_at(done: int) -> None:
        def listen(outcome: Outcome, count: int, total: int) -> None:
            if count == done:
                raise Killed

        run_trial(plan(0.3), runner_for("local", 1), ledger=ledger, root=tmp_path, on_outcome=listen)

    with pytest.raises(Killed):
        killed_at(2)
    before = ledger.outcomes(plan(0.3).id)
    assert len(before) == 2
    trained: list[Job] = []

    class Watched:
        def run(self, jobs: list[Job], root: Path, wanted) -> Iterator[Outcome]:  # type: ignore[no-untyped-def]
            trained.extend(jobs)
            yield from runner_for("local", 2).run(jobs, root, wanted)

    trial = run_trial(plan(0.3), Watched(), ledger=ledger, root=tmp_path)
    assert len(trained) == 4
    assert set(before) <= set(trial.outcomes)
    assert len(trial.outcomes) == 6


class Never:
    """A runner that nobody may ask for a run."""

    def run(self, jobs: Sequence[Job], root: Path, wanted: Callable[[Job], bool]) -> Iterator[Outcome]:
        assert list(jobs) == []
        yield from ()


def test_what_an_earlier_trial_has_trained_is_not_trained_again(ledger: Ledger, tmp_path: Path) -> None:
    first = replace(plan(0.3), command="")
    ledger.start(first.id, environment="Bandit", algorithm="PPO", plan=first.to_object())
    for job in first.jobs():
        level = 90.0 if job.arm == "change" else 10.0
        ledger.record(first.id, Outcome(job.arm, job.seed, OutcomeState.DONE, level + job.seed, level + job.seed))
    again = replace(first, run="another run with the same config")
    assert again.id != first.id
    trial = run_trial(again, Never(), ledger=ledger, root=tmp_path)
    assert trial.leading.verdict is TrialVerdict.PROVED


def test_a_users_own_script_is_trained_again_because_it_may_have_changed(ledger: Ledger, tmp_path: Path) -> None:
    first = plan(0.3)
    ledger.start(first.id, environment="Bandit", algorithm="PPO", plan=first.to_object())
    for job in first.jobs():
        ledger.record(first.id, Outcome(job.arm, job.seed, OutcomeState.DONE, 1.0, 1.0))
    with pytest.raises(AssertionError):
        run_trial(replace(first, run="another"), Never(), ledger=ledger, root=tmp_path)


def test_a_worker_that_dies_is_said_and_the_others_go_on(ledger: Ledger, tmp_path: Path) -> None:
    trial = run_trial(plan(0.3, COMMAND + " --die 1"), runner_for("local", 2), ledger=ledger, root=tmp_path)
    failed = [outcome for outcome in trial.outcomes if outcome.state is OutcomeState.FAILED]
    assert {(outcome.arm, outcome.seed) for outcome in failed} == {(BASELINE, 1), ("change", 1)}
    assert "killed by signal 9" in failed[0].error
    assert trial.leading.verdict is TrialVerdict.INCONCLUSIVE
    assert len([outcome for outcome in trial.outcomes if outcome.state is OutcomeState.DONE]) == 4


def test_a_worker_ends_with_its_command_once_the_trial_is_killed(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    script = tmp_path / "slow.py"
    script.write_text(f"import os, time\nopen({str(noted)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n")
    job = Job("t", BASELINE, 0, {}, 100, None, command=f"{sys.executable} {script}")
    trial = tmp_path / "trial.py"
    trial.write_text(
        "import subprocess, sys, time\n"
        f"worker = subprocess.Popen([sys.executable, '-m', 'rlclinic.trials.job', {str(tmp_path / 'run')!r}],\n"
        "    stdin=subprocess.PIPE, start_new_session=True)\n"
        f"worker.stdin.write({job.to_json().encode()!r})\nworker.stdin.close()\ntime.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, str(trial)])
    _wait_until(lambda: noted.exists() and noted.read_text() != "")
    parent.kill()
    parent.wait()
    _wait_until(lambda: not _is_running(int(noted.read_text())))


def _wait_until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.1)


def _is_running(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_command_that_fails_is_a_failed_run_with_its_last_words(ledger: Ledger, tmp_path: Path) -> None:
    broken = plan(0.3, f"{sys.executable} -c 'raise SystemExit(\"no such device {{learning_rate}}\")'")
    trial = run_trial(broken, runner_for("local", 2), ledger=ledger, root=tmp_path)
    assert all(outcome.state is OutcomeState.FAILED for outcome in trial.outcomes)
    assert "no such device 0.001" in trial.outcomes[0].error


def test_what_a_command_prints_is_read_where_its_folder_holds_no_metrics(ledger: Ledger, tmp_path: Path) -> None:
    """constructed: verl keeps its config in the folder and prints its metrics."""
    script = tmp_path / "main_ppo.py"
    script.write_text(
        "import sys\nfor n in range(20):\n"
        "    print(f'step:{n} - critic/score/mean:{0.1 + float(sys.argv[1]) * n} - actor/kl_loss:0.1')\n"
    )
    printed = plan(0.3, f"{sys.executable} {script} {{learning_rate}} {{seed}} hydra.run.dir={{logdir}}", seeds=1)
    trial = run_trial(printed, runner_for("local", 2), ledger=ledger, root=tmp_path)
    assert [outcome.state for outcome in trial.outcomes] == [OutcomeState.DONE] * 2


def test_an_arm_that_cannot_win_any_more_is_given_up(ledger: Ledger, tmp_path: Path) -> None:
    harmful = replace(plan(0.0001, seeds=6), config={"learning_rate": 0.3})
    trial = run_trial(harmful, runner_for("local", 1), ledger=ledger, root=tmp_path)
    assert len([outcome for outcome in trial.outcomes if outcome.state is OutcomeState.DONE]) < 12
    assert trial.leading.verdict is TrialVerdict.REFUTED
    assert any("could not be proved any more" in note for note in trial.notes)


def test_a_trial_that_is_not_over_has_given_nothing_up() -> None:
    assert judged(plan(0.3), {}, is_over=False).notes == ()
    assert any("could not be proved any more" in note for note in judged(plan(0.3), {}).notes)


def test_a_plan_survives_the_ledger(ledger: Ledger, tmp_path: Path) -> None:
    written = json.loads(json.dumps(plan(0.3).to_object()))
    assert plan_from(written) == plan(0.3)
    assert plan_from(written).id == plan(0.3).id


@pytest.mark.timeout(180)
@pytest.mark.slow
def test_ray_and_the_local_pool_give_the_same_numbers_for_the_same_seeds(tmp_path: Path) -> None:
    lab = TrialPlan(
        run="r",
        environment="CartPole-v1",
        algorithm="PPO",
        arms=(Arm(BASELINE), Arm("change", (Change("learning_rate", "learning_rate", 0.0003, 0.01),))),
        seeds=(0,),
        budget=512,
        threshold=475.0,
        config={
            "framework": "sb3",
            "algorithm": "PPO",
            "env_id": "CartPole-v1",
            "total_steps": 512,
            "n_steps": 128,
            "batch_size": 64,
            "n_envs": 1,
            "learning_rate": 0.0003,
            "eval_freq": 128,
            "eval_episodes": 2,
        },
    )
    curves = []
    for runner in ("local", "ray"):
        ledger = Ledger(tmp_path / f"{runner}.sqlite")
        trial = run_trial(lab, runner_for(runner, 2), ledger=ledger, root=tmp_path / runner)
        assert [outcome.state for outcome in trial.outcomes] == [OutcomeState.DONE] * 2, trial.notes
        curves.append([outcome.curve for outcome in trial.outcomes])
    assert curves[0] == curves[1]
    assert curves[0][0] != curves[0][1]

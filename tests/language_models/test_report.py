"""What a report of a language-model run says, in the order in which such a run is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.comparison.compare import compare
from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.prescription import Safety
from rlclinic.reports.compare_markdown import comparison_markdown
from rlclinic.reports.diagnosis_markdown import diagnosis_markdown
from rlclinic.store.reading import read
from tests.language_models.cases import CASES, FAULTS, GRPO
from tests.language_models.curves import Drawn
from tests.language_models.logs import write

HACK = next(case for case in FAULTS if case.name == "kl-in-reward-hack")
OUT_OF_MEMORY = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.07 GiB."


@pytest.fixture(scope="module")
def hacked(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    log = write("verl", tmp_path_factory.mktemp("run"), HACK.build(Drawn(0)), {**GRPO, **HACK.config})
    return diagnose(log)


def test_identity_metrics_symptoms_causes_fixes_and_unknowns_follow_each_other(hacked: Diagnosis) -> None:
    text = diagnosis_markdown(hacked)
    titles = ("## Run", "## Key metrics", "## Findings", "## Root cause", "## Recommendations", "Not known")
    places = [text.index(title) for title in titles]
    assert places == sorted(places)
    run, metrics = text[places[0] : places[1]], text[places[1] : places[2]]
    assert "| algorithm.kl_ctrl.kl_coef | 0.05 |" in run
    rows = [line.split(" | ") for line in metrics.splitlines() if line.startswith("| ")]
    assert rows[0][1:6] == ["first", "middle", "last", "change", "per update"]
    assert rows[1][0] == "| return/train", "the score stands first"
    assert " ± " in rows[1][4]
    assert "computed in verl/trainer/ppo/ray_trainer.py: apply_kl_penalty" in text
    assert "algorithm.use_kl_in_reward=false" in text[places[4] :]
    command = "python3 -m verl.trainer.main_ppo YOUR_OVERRIDES algorithm.use_kl_in_reward={use_kl_in_reward} "
    assert f'--command "{command}' in text
    assert ' ++data.seed={seed} hydra.run.dir={logdir}"' in text
    assert "--env" not in text, "the data of a language model are no environment"


def test_nothing_is_asked_for_that_only_an_agent_in_an_environment_has(hacked: Diagnosis) -> None:
    needs = {name for item in hacked.not_checked for need in item.needs for name in need.split("|")}
    assert not needs & {"episode_length", "action_std/mean", "observation/std", "dead_units", "config:n_actions"}


def test_a_trial_repeats_what_was_typed_and_pastes_no_code(tmp_path: Path) -> None:
    write("verl", tmp_path, HACK.build(Drawn(0)), {})
    (tmp_path / ".hydra").mkdir()
    typed = ["data.train_files=[a.parquet,b.parquet]", "+note='$(rm x)'", "algorithm.use_kl_in_reward=True",
             "algorithm.kl_ctrl.kl_coef=0.05", "actor_rollout_ref.model.path=org/model"]  # fmt: skip
    (tmp_path / ".hydra" / "overrides.yaml").write_text("".join(f"- {item}\n" for item in typed), encoding="utf-8")
    command = diagnose(tmp_path).commands.prove
    assert " data.train_files=[a.parquet,b.parquet] ++note=VALUE " in command
    assert " actor_rollout_ref.model.path=org/model " in command
    assert "use_kl_in_reward=True" not in command, "what the trial varies is a place"
    assert "rm x" not in command


def test_a_rate_is_per_what_the_steps_count(tmp_path: Path) -> None:
    log = write("trl-console", tmp_path, HACK.build(Drawn(0)), {})
    rows = [line for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    log.write_text("\n".join(rows) + "\n", encoding="utf-8")  # without its bar only epochs are told
    assert "| per epoch |" in diagnosis_markdown(diagnose(log))


def test_memory_is_freed_where_it_is_held(tmp_path: Path) -> None:
    command = (
        "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=gae data.max_response_length=500 "
        "actor_rollout_ref.actor.ppo_mini_batch_size=256 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8"
    )
    (tmp_path / "train.log").write_text(f"{command}\nTraceback (most recent call last):\n{OUT_OF_MEMORY}\n", "utf-8")
    found = diagnose(tmp_path)
    assert found.run.is_language_model, "by its settings: nothing was logged"
    change = found.prescriptions[0].changes[0]
    assert (change.native_key, change.after) == ("actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", 4)
    assert "ppo_micro_batch_size_per_gpu={micro_batch_size}" in found.commands.prove
    assert found.prescriptions[0].safety is Safety.SAFE, "the gradients of the parts are summed"


def test_a_penalty_far_beyond_any_is_brought_to_what_trainers_come_with(tmp_path: Path) -> None:
    case = next(case for case in FAULTS if case.name == "wrong-reference")
    curves = case.build(Drawn(0)) | {"kl": 0.0 * case.build(Drawn(0))["kl"] + 1e-4}
    found = diagnose(write("verl", tmp_path, curves, {**GRPO, "actor_rollout_ref.actor.kl_loss_coef": 5.0}))
    changes = {change.key: change.after for item in found.prescriptions for change in item.changes}
    assert changes["kl_loss_coef"] == 0.05


def test_a_comparison_tells_what_held_out_prompts_say(tmp_path: Path) -> None:
    names = {"memorised": "prompts-memorised", "calm": "many-passes-and-validation-rises"}
    cases = {label: next(case for case in CASES if case.name == name) for label, name in names.items()}
    runs = [write("trl", tmp_path / label, case.build(Drawn(0)), {}).parent for label, case in cases.items()]
    text = comparison_markdown(compare(runs))
    assert "2 runs of language models" in text
    assert "On held-out prompts: memorised from 0.4784 to 0.3017; calm from 0.2782 to 0.6058" in text.replace("\n", " ")


def test_a_table_of_html_in_a_written_report_is_read(tmp_path: Path) -> None:
    scores = [0.1 + 0.02 * row for row in range(20)]
    rows = "".join(f"<tr><td>{10 * row}</td><td>{score:.2f}</td></tr>\n" for row, score in enumerate(scores))
    report = tmp_path / "report.md"
    report.write_text(f"# GRPO\n\n<table>\n<tr><th>step</th><th>reward</th></tr>\n{rows}</table>\n", encoding="utf-8")
    assert list(read(report).series["return/train"].values) == pytest.approx(scores)

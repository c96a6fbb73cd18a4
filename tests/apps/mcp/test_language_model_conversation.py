"""The questions of the agent for language models about a post-training run of which only the project is named.

The run is recorded: TRL trained it with a KL penalty that is far too strong, and verl's own console logger wrote it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.faults.shards import records

from rlclinic.apps.agents.documents import definitions
from tests.apps.mcp.talk import Talk, stdio

RECORD = next(
    record
    for record in records(Path(__file__).parents[3] / "bench" / "llm" / "in_verl")
    if record.name == "kl-strong-reverse-0"
)
KEY = "5f3a9c1e7b2d4860a1c3e5f7092b4d6e8f0a2c4d"
RUN = "wandb/run-20251130_144822-k3v9q1zt"
SCRIPT = "train_paper_writing_grpo.sh"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project as its user has it: the console in the tracker's folder, the config in a Hydra job, a script."""
    root = tmp_path_factory.mktemp("seed") / "project"
    job, files = root / "outputs" / "2025-11-30" / "14-46-05" / ".hydra", root / RUN / "files"
    job.mkdir(parents=True)
    files.mkdir(parents=True)
    texts = {name: base64.b64decode(text).decode() for name, text in RECORD.files.items()}
    for name in ("overrides.yaml", "config.yaml"):
        (job / name).write_text(texts[f".hydra/{name}"], encoding="utf-8")
    (files / "output.log").write_text(f"wandb: using api key {KEY}\n{texts['train.log']}", encoding="utf-8")
    overrides = [line.removeprefix("- ") for line in texts[".hydra/overrides.yaml"].splitlines()]
    command = " \\\n    ".join(["python3 -m verl.trainer.main_ppo", *overrides])
    (root / SCRIPT).write_text(f"set -x\n{command}\n", encoding="utf-8")
    (root / "pyproject.toml").write_text("", encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def seed(project: Path) -> Iterator[Talk]:
    opened = Talk(stdio(project, project.parent))
    yield opened
    opened.close()


def test_the_agent_knows_what_the_conversation_uses() -> None:
    agent = next(item for item in definitions() if item.name == "rl-language-model-diagnoser")
    for words in ("`diagnose`", "`get_run_info`", "rlclinic samples", "examine --reward", "first, middle, last"):
        assert words in agent.body


def test_a_run_is_found_diagnosed_and_its_change_proposed(seed: Talk) -> None:
    # Which artifacts are there? One run: the job holds its config, the tracker its console.
    listed = seed.data("list_runs")
    assert [run["path"] for run in listed["runs"]] == [RUN]
    run = listed["runs"][0]["run_id"]

    # Is it healthy, unstable, reward-hacking or misconfigured, and where in the code does that live?
    told = seed.data("diagnose", run_id=run)
    lead = told["causes"][0]
    assert (told["verdict"], lead["id"]) == ("not-learning", "kl-penalty-too-strong")
    assert "verl/trainer/ppo/core_algos.py: kl_penalty" in lead["code"]
    assert any(item["code"] == "LMR14" for item in told["findings"])

    # Metrics with evidence: where they began, were half-way and ended, and whether that is more than noise.
    score = seed.data("get_metrics_summary", run_id=run, metric_name="critic/score/mean")
    assert [score[name] for name in ("first", "middle", "last")] == pytest.approx([0.298, 0.473, 0.347], abs=0.001)
    assert score["trend"] == "stable"
    drift = seed.data("get_metric_trend", run_id=run, metric="actor/kl_loss")
    assert (drift["metric"], drift["direction"]) == ("kl_ref", "stable")

    # What is missing limits what can be said; it is never zero.
    metrics = seed.data("list_available_metrics", run_id=run)
    assert {"return/eval", "approx_kl"} <= set(metrics["missing"])
    assert "episode_length" not in metrics["missing"], "responses have none"
    assert "has no metric" in seed.error("get_metrics_summary", run_id=run, metric_name="actor/ppo_kl")
    assert told["unknowns"]

    # The config that was in force, from the job that started two minutes before.
    shown = seed.data("show_run", run_id=run)
    assert shown["config"]["kl_loss_coef"] == 5
    assert any("the Hydra job ../../outputs/2025-11-30/14-46-05" in note for note in shown["notes"])

    # The change in the user's own words and in the script that starts the training.
    change = told["prescriptions"][0]
    assert change["native"]["text"].startswith("actor_rollout_ref.actor.kl_loss_coef=")
    assert change["risk"]
    fix = seed.data("propose_fix", run_id=run, config=SCRIPT, unsafe=True)
    assert "-    actor_rollout_ref.actor.kl_loss_coef=5.0" in fix["diff"]

    # Nothing that was said repeats the key that stands in the log.
    log = seed.data("get_run_logs", run_id=run)
    assert KEY not in json.dumps([listed, told, shown, metrics, fix, log])


def test_what_was_written_for_pay_is_read_without_the_key(seed: Talk, project: Path) -> None:
    run = seed.data("list_runs")["runs"][0]["run_id"]
    assert seed.data("get_logged_responses", run_id=run)["responses"] == 0
    loop, said = "the same again " * 40, "an answer of its own"
    rows = [{"prompt": f"q{n}", "response": loop if n % 2 else f"{said} {n}", "reward": n % 2} for n in range(20)]
    rows.append({"prompt": "q", "response": f"api_key={KEY} {loop}", "reward": 1})
    folder = project / RUN / "rollouts"
    folder.mkdir()
    (folder / "1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    told = seed.data("get_logged_responses", run_id=run)
    assert told["responses"] == len(rows)
    assert any("repeat" in remark["text"] and remark["rows"] for remark in told["remarks"])
    assert KEY not in json.dumps(told)

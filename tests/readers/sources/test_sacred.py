"""Sacred folders: boxed numbers are read, pickles stay closed, the recorded end is weighed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlclinic.model.run import Status
from rlclinic.readers.open import read
from rlclinic.readers.sources.sacred import plain

BUDGET = {"t_max": 1000, "env_args": {}, "mac": "", "learner": ""}
PICKLE = {"py/reduce": [{"py/function": "os.system"}, {"py/tuple": ["touch planted"]}]}


def folder(path: Path, info: object, *, run: object = None, config: object = None) -> Path:
    (path / "info.json").write_text(json.dumps(info))
    (path / "run.json").write_text(json.dumps(run if run is not None else {"status": "COMPLETED"}))
    (path / "config.json").write_text(json.dumps(config or {}))
    return path


def returns(points: int) -> dict[str, list[object]]:
    steps = [100 * index for index in range(points)]
    values: list[object] = [{"py/object": "numpy.float64", "value": float(step)} for step in steps]
    return {"test_return_mean": values, "test_return_mean_T": list(steps), "test_ep_length_mean": [1.0] * points,
            "test_ep_length_mean_T": list(steps)}  # fmt: skip


def test_a_boxed_number_is_read_and_a_pickle_is_not(tmp_path: Path) -> None:
    info = returns(4) | {"grad_norm": [PICKLE] * 4, "grad_norm_T": [0, 100, 200, 300]}
    run = read(folder(tmp_path, info))
    assert run["return/eval"].values.tolist() == [0, 100, 200, 300]
    assert "grad_norm" not in run
    assert any("pickled values, not opened: grad_norm" in note for note in run.provenance.notes)
    assert not (Path.cwd() / "planted").exists()


@pytest.mark.parametrize("value", [None, "1", True, [1], {}, {"value": "x"}, {"value": PICKLE}])
def test_what_is_no_number_is_a_gap(value: object) -> None:
    assert plain(value) != plain(value) or value is True


def test_scalars_that_sacred_logged_itself_are_read(tmp_path: Path) -> None:
    run_json = {"status": "INTERRUPTED", "start_time": "2024-01-01T00:00:00"}
    folder(tmp_path, {}, run=run_json)
    record = {"steps": [0, 10], "values": [1.0, 2.0], "timestamps": ["", ""]}
    (tmp_path / "metrics.json").write_text(json.dumps({"test_return_mean": record, "test_ep_length_mean": record}))
    run = read(tmp_path)
    assert run["return/eval"].values.tolist() == [1, 2]
    assert run.status.state is Status.INTERRUPTED


def test_a_failure_after_the_budget_was_reached_is_set_aside(tmp_path: Path) -> None:
    failed = {"status": "FAILED", "fail_trace": ["Traceback\n", "ValueError: the plot failed\n"]}
    reached = read(folder(tmp_path, returns(11), run=failed, config=BUDGET))
    assert reached.status.state is Status.FINISHED
    early = read(folder(tmp_path, returns(4), run=failed, config=BUDGET))
    assert early.status.state is Status.CRASHED
    assert "the plot failed" in early.status.reason


@pytest.mark.parametrize(
    ("config", "algorithm", "environment"),
    [
        ({"name": "vdn_smac", "env": "sc2", "env_args": {"map_name": "8m"}}, "VDN", "SMAC 8m"),
        ({"name": "mappo", "env": "gymma", "env_args": {"key": "lbforaging:Foraging-8x8-2p-3f-v3"}}, "MAPPO",
         "gymma lbforaging:Foraging-8x8-2p-3f-v3"),
        ({"name": "mymethod_smac", "env": "stag_hunt", "env_args": {"n_agents": 2}}, "MYMETHOD", "stag_hunt"),
    ],
)  # fmt: skip
def test_task_and_algorithm_of_pymarl_stand_in_its_config(
    tmp_path: Path, config: dict[str, object], algorithm: str, environment: str
) -> None:
    run = read(folder(tmp_path, returns(3), config=config))
    assert (run.framework, run.algorithm, run.environment) == ("pymarl", algorithm, environment)

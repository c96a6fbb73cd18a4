"""Run folders that were made to break a reader: a documented exit code, no unforeseen error, and soon."""

from __future__ import annotations

import contextlib
import io
import json
import math
import sqlite3
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from rlclinic.apps.cli.main import main
from rlclinic.facts.run_facts import RunFacts
from rlclinic.lab.metrics_file import MetricsFile
from rlclinic.model.errors import ExitCode, UsageError
from rlclinic.model.numbers import bounded, bounded_array, date_text, moment, number
from rlclinic.prescriptions.checks.constraints import dividing_batch
from rlclinic.readers.draft import Draft
from rlclinic.readers.formats.archive import read_array, read_members
from rlclinic.readers.formats.errors import FormatError

Command = Callable[..., tuple[int, str, str]]
DOCUMENTED = {ExitCode.OK, ExitCode.FINDINGS, ExitCode.ERROR, ExitCode.NOTHING_READABLE}
SECONDS = 5.0
HUGE = int("9" * 400)
CONFIG = {
    "rlclinic_version": "1", "algorithm": "PPO", "env_id": "CartPole-v1", "n_envs": 8, "n_steps": 128,
    "batch_size": 256, "n_epochs": 4, "learning_rate": 3e-4, "gamma": 0.99, "total_steps": 40960, "clip_range": 0.2,
}  # fmt: skip
EXTREMES = (1e308, -1e308, 1e-320, float("inf"), float("-inf"), float("nan"), 0.0, -1.0)


def own(folder: Path, config: Mapping[str, object] = {}, columns: Mapping[str, object] = {}) -> None:
    """A run of the lab that learns nothing; a column may be given whole or as the value of its last half."""
    rows = 40
    numbers: dict[str, object] = {
        "epoch": list(range(rows)),
        "train/cnt/total_env_steps": [1024 * (row + 1) for row in range(rows)],
        "train/roll/ep_rew/mean": [20.0 + row % 3 for row in range(rows)],
        "train/roll/ep_len/mean": [20.0 + row % 3 for row in range(rows)],
        "train/opt/loss/value": [1.0 + 0.1 * (row % 2) for row in range(rows)],
        "train/opt/loss/policy": [0.01 * (-1) ** row for row in range(rows)],
        "train/opt/value/explained_var": [0.9 - 0.03 * row for row in range(rows)],
        "train/opt/policy/entropy": [0.6 - 0.001 * row for row in range(rows)],
        "train/opt/ppo/approx_kl": [0.01 + 0.001 * (row % 4) for row in range(rows)],
    }
    for name, value in columns.items():
        before = numbers[name]
        assert isinstance(before, list)
        numbers[name] = value if isinstance(value, list) else before[: rows // 2] + [value] * (rows // 2)
    table = [",".join(numbers)] + [",".join(str(numbers[name][row]) for name in numbers) for row in range(rows)]  # type: ignore[index]
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({**CONFIG, **config}))
    (folder / "metrics.csv").write_text("\r\n".join(table) + "\r\n")
    (folder / "status.json").write_text(json.dumps({"state": "finished", "started": 1.7e9, "env_steps": 40960}))


def configured(**settings: object) -> Callable[[Path], None]:
    """The run with other settings."""
    return lambda folder: own(folder, settings)


def logged(**columns: object) -> Callable[[Path], None]:
    """The run with other values in the columns whose names end so."""
    names = {
        "steps": "train/cnt/total_env_steps", "returns": "train/roll/ep_rew/mean", "lengths": "train/roll/ep_len/mean",
        "value": "train/opt/loss/value", "policy": "train/opt/loss/policy",
        "explained": "train/opt/value/explained_var",
    }  # fmt: skip
    return lambda folder: own(folder, {}, {names[name]: value for name, value in columns.items()})


def with_file(name: str, content: str | bytes) -> Callable[[Path], None]:
    """The run with one more file."""

    def build(folder: Path) -> None:
        own(folder)
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return build


def apart(**files: str | bytes) -> Callable[[Path], None]:
    """A folder of these files alone; `__` stands for a slash and `_dot_` for a dot."""

    def build(folder: Path) -> None:
        for name, content in files.items():
            path = folder / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return build


def archive(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return data.getvalue()


def damaged(data: bytes, start: int = 60) -> bytes:
    """The same archive with other bytes inside its first member."""
    return data[:start] + bytes(255 - byte for byte in data[start : start + 20]) + data[start + 20 :]


def model(method: int = zipfile.ZIP_DEFLATED, **data: object) -> bytes:
    """An SB3 model."""
    plain = json.dumps({"n_steps": 128, "note": "x" * 500, **data}).encode()
    return archive({"data": plain, "_stable_baselines3_version": b"2.3.0"}, method)


def lying(data: bytes, size: int) -> bytes:
    """An archive whose first member claims to be of another size, in both headers."""
    central = data.index(b"PK\x01\x02")
    claim = struct.pack("<I", size)
    data = data[:22] + claim + data[26:]
    return data[: central + 24] + claim + data[central + 28 :]


def npz(**arrays: object) -> bytes:
    """An npz of these arrays."""
    data = io.BytesIO()
    np.savez_compressed(data, **{name: np.asarray(value) for name, value in arrays.items()})  # type: ignore[arg-type]
    return data.getvalue()


def evaluations(**arrays: object) -> Callable[[Path], None]:
    """A folder of SB3 evaluations, of which these arrays are others."""
    sound = {"timesteps": np.arange(1, 13), "results": np.ones((12, 5)), "ep_lengths": np.ones((12, 5))}
    return apart(evaluations_dot_npz=npz(**{**sound, **arrays}))


def database(*statements: str) -> Callable[[Path], None]:
    """A folder with a Trackio database of one row, changed by statements."""

    def build(folder: Path) -> None:
        folder.mkdir(parents=True)
        with closing(sqlite3.connect(folder / "runs.db")) as file, file:
            file.execute("CREATE TABLE metrics (run_name TEXT, timestamp TEXT, step INTEGER, metrics TEXT)")
            file.execute("INSERT INTO metrics VALUES ('a', '2026-01-01', 1, '{\"loss\": 1}')")
            for statement in statements:
                file.execute(statement)

    return build


ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n AS config, 'a' AS run_name FROM t"
MONITOR = '#{"t_start": %s, "env_id": "CartPole-v1"}\nr,l,t\n' + "".join(f"{i}.0,{i},{i}.5\n" for i in range(9, 60))
PROGRESS = "time/total_timesteps,rollout/ep_rew_mean\n" + "".join(f"{i * 1000},{i % 5}\n" for i in range(1, 30))
HOSTILE: dict[str, Callable[[Path], None]] = {
    "integers of 400 digits in a config": configured(n_steps=HUGE, total_steps=HUGE, learning_rate=-HUGE, seed=HUGE),
    "a derived value of 400 digits": configured(n_steps=10**300, n_envs=10**300, batch_size=10**299),
    "integers of 5000 digits": with_file("config.json", '{"env_id": "CartPole-v1", "n_steps": 1%s}' % ("0" * 5000)),
    "a budget of 400 digits in rl-zoo": apart(
        CartPole__args_dot_yml=f"algo: ppo\nn_timesteps: {HUGE}\n",
        CartPole__config_dot_yml=f"n_timesteps: {HUGE}\n",
        **{"0_dot_monitor_dot_csv": MONITOR % 1.7e9},
    ),
    "a linear schedule without its exponent": apart(
        CartPole__args_dot_yml="algo: ppo\n",
        CartPole__config_dot_yml="learning_rate: lin_7.3e-\n",
        **{"0_dot_monitor_dot_csv": MONITOR % 1.7e9},
    ),
    "steps of 400 digits in ML-Agents": apart(
        configuration_dot_yaml=f"behaviors:\n  B:\n    trainer_type: ppo\n    max_steps: {HUGE}\n",
        run_logs__training_status_dot_json=json.dumps({"B": {"checkpoints": [{"steps": HUGE, "reward": HUGE}]}}),
        B__events_dot_out_dot_tfevents_dot_1=b"",
    ),
    "a start of 400 digits in a monitor file": apart(**{"0_dot_monitor_dot_csv": MONITOR % HUGE}),
    "a monitor file in milliseconds": apart(**{"0_dot_monitor_dot_csv": MONITOR % 1.7e12}),
    "files that differ by 400 digits": with_file("args.json", json.dumps({"n_steps": HUGE, "gamma": -HUGE})),
    "infinite settings": configured(
        **dict.fromkeys(("learning_rate", "total_steps", "n_steps", "gamma"), float("inf"))
    ),
    "extreme settings": configured(
        learning_rate=1e308, n_steps=1e308, batch_size=1e-308, total_steps=1e300, gamma=1e-320
    ),
    "a rollout of 10^18": configured(n_steps=10**18 - 11, n_envs=1, batch_size=7),
    "extreme returns": logged(returns=[EXTREMES[row % 8] for row in range(40)]),
    "returns that run away": logged(returns=-1e308, value=1e308, policy=-1e308, explained=-1e308),
    "steps beyond all numbers": logged(steps=1e308),
    "steps that are infinite": logged(steps=float("inf")),
    "episodes of no length": logged(lengths=[0.0] * 40),
    "a critic that is lost": logged(explained=[0.9] * 20 + [-1e300] * 20, value=[0.0] * 30 + [1e-320] * 10),
    "infinite losses": logged(value=[1.0] * 10 + [float("inf")] * 30, policy=[float("-inf")] * 39 + [1.0]),
    "shapes of a model that are none": with_file(
        "model.zip", model(action_space={"n": HUGE, "_shape": [HUGE] * 9}, observation_space={"_shape": ["a", None]})
    ),
    "a model whose shape is text": apart(
        progress_dot_csv=PROGRESS, model_dot_zip=model(action_space={"_shape": ["x", {}]}, target_entropy=-1.0)
    ),
    "a model with damaged deflate": apart(progress_dot_csv=PROGRESS, model_dot_zip=damaged(model(), 34)),
    "a model with damaged LZMA": apart(progress_dot_csv=PROGRESS, model_dot_zip=damaged(model(zipfile.ZIP_LZMA))),
    "a model in LZMA": apart(progress_dot_csv=PROGRESS, model_dot_zip=model(zipfile.ZIP_LZMA)),
    "evaluations with damaged deflate": apart(evaluations_dot_npz=damaged(npz(timesteps=np.arange(500)))),
    "evaluations that are single numbers": evaluations(timesteps=3, results=1.0),
    "evaluations that are text": evaluations(results=[["a"] * 5] * 12),
    "evaluations with steps of two dimensions": evaluations(timesteps=np.ones((12, 2))),
    "evaluations that are empty": evaluations(results=np.ones((12, 0))),
    "evaluations beyond all numbers": evaluations(results=np.full((12, 5), 1.7e308)),
    "a database whose steps are text": database("UPDATE metrics SET step = 'true'"),
    "a database whose names are no text": database("UPDATE metrics SET run_name = CAST(x'ffd4' AS TEXT)"),
    "a database that computes without end": database(f"CREATE VIEW configs AS {ENDLESS} WHERE n < 0"),
    "a header that repeats a name 20,000 times": apart(progress_dot_csv="[1," * 20_000 + "a\n1,2\n"),
    "a version of 5,000 digits": with_file(
        "model.zip", archive({"data": b"{}", "_stable_baselines3_version": b"9" * 5000})
    ),
    "100,000 brackets in status.json": with_file("status.json", "[" * 100_000),
    "a status.json of other kinds": with_file(
        "status.json", '{"state": "running", "pid": "x", "started": [], "seconds": null}'
    ),
    "a learning rate of endless digits": configured(learning_rate="1" * 100_000 + "x"),
    "a line of blanks before a dict": apart(run_dot_log=(" " * 99_000 + "~{'loss': 1.0, 'epoch': 1}\n") * 3),
    "an environment with an endless name": configured(env_id="a" * 100_000, run_name="b" * 100_000),
    "a project with an endless name": apart(
        config_dot_yaml=f"project: {'b-' * 50_000}\nexp_name: {'x__.' * 25_000}\nlr: 0.1\n",
        progress_dot_csv="step,reward\n1,2\n2,3\n",
    ),
}


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command line in this process: exit code, output and errors."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["rlclinic", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_folder_ends_with_a_documented_code(name: str, tmp_path: Path, command: Command) -> None:
    HOSTILE[name](tmp_path / "hostile")
    began = time.process_time()
    code, output, errors = command("show", tmp_path / "hostile")
    assert code in DOCUMENTED
    assert "Traceback" not in output + errors
    code, output, errors = command("diagnose", tmp_path / "hostile", "--json")
    assert code in DOCUMENTED
    assert "Traceback" not in errors
    assert json.loads(output)["schema"] in ("rlclinic.diagnosis/1", "rlclinic.error/1")
    assert time.process_time() - began < SECONDS


def test_hostile_folders_do_not_hide_a_sound_one(tmp_path: Path, command: Command) -> None:
    for place, build in enumerate(HOSTILE.values()):
        build(tmp_path / f"hostile-{place}")
    own(tmp_path / "sound", {}, {})
    code, output, errors = command("runs", tmp_path, "--json", "--no-index")
    listed = {row["id"] for row in json.loads(output)["runs"]}
    assert code == ExitCode.OK
    assert "sound" in listed
    assert "Traceback" not in errors
    assert command("status", tmp_path, "--all")[1].count("sound  PPO on CartPole-v1  finished") == 1


def test_a_damaged_status_is_a_line_that_says_what_is_wrong(tmp_path: Path, command: Command) -> None:
    own(tmp_path / "sound")
    HOSTILE["100,000 brackets in status.json"](tmp_path / "deep")
    code, output, _ = command("status", tmp_path)
    assert code == ExitCode.OK
    assert "deep" in output
    assert "status.json cannot be read: larger than 64 KB" in output
    assert "1 ended" in output


@pytest.mark.usefixtures("errors_are_contained")
def test_a_run_that_rlclinic_fails_on_takes_no_other_down(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a-fails", "b-sound"):
        own(tmp_path / name)

    def fail(draft: Draft) -> None:
        if draft.place.root.name == "a-fails":
            raise ZeroDivisionError("secret text of a file")

    monkeypatch.setattr("rlclinic.readers.sources.gymnasium_solver._checkpoints", fail)
    told = "rlclinic failed on it (ZeroDivisionError in "
    code, output, errors = command("runs", tmp_path)
    assert code == ExitCode.OK
    assert "b-sound" in output
    assert f"a-fails: {told}" in errors
    assert command("show", f"{tmp_path}/@last")[0] == ExitCode.OK
    assert command("show", "b-so", "--root", tmp_path)[0] == ExitCode.OK
    code, output, _ = command("diagnose", tmp_path, "--json")
    first, second = json.loads(output)["diagnoses"]
    assert code == ExitCode.ERROR
    assert first["run"]["id"] == "b-sound"
    assert second["error"]["kind"] == "internal"
    assert second["error"]["path"].endswith("a-fails")
    assert "secret" not in output


@pytest.mark.usefixtures("errors_are_contained")
def test_a_diagnosis_that_fails_takes_no_other_down(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(facts: RunFacts, *_: object, **__: object) -> tuple[object, ...]:
        if Path(facts.run.path).name == "a-fails":
            raise OverflowError
        return ()

    for name in ("a-fails", "b-sound"):
        own(tmp_path / name)
    monkeypatch.setattr("rlclinic.engine.prescribe", fail)
    code, output, errors = command("diagnose", tmp_path)
    assert code == ExitCode.ERROR
    assert "b-sound" in output
    assert "a-fails: rlclinic failed on it (OverflowError in " in errors


def test_a_damaged_row_of_the_index_is_read_afresh(tmp_path: Path, command: Command) -> None:
    for name in ("one", "two"):
        own(tmp_path / "runs" / name)
    command("runs", tmp_path / "runs")
    with sqlite3.connect(tmp_path / "index" / "runs.sqlite") as database:
        database.execute("UPDATE runs SET summary = '[1' WHERE name LIKE '%one%'")
        database.execute("UPDATE runs SET summary = '{}' WHERE name LIKE '%two%'")
    database.close()
    output = command("runs", tmp_path / "runs")[1]
    assert "one" in output
    assert "two" in output


def test_a_member_that_lies_about_its_size_is_read_to_the_limit_only(tmp_path: Path) -> None:
    (tmp_path / "bomb.zip").write_bytes(lying(archive({"data": bytes(64 << 20)}), 1 << 30))
    tracemalloc.start()
    with pytest.raises(FormatError, match="larger than 4 MB"):
        read_members(tmp_path / "bomb.zip", ("data",), 4 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 << 20
    (tmp_path / "bomb.zip").write_bytes(lying(archive({"data": bytes(64 << 20)}), 100))
    tracemalloc.start()
    with contextlib.suppress(FormatError):
        read_members(tmp_path / "bomb.zip", ("data",), 4 << 20)
    assert tracemalloc.get_traced_memory()[1] < 24 << 20
    tracemalloc.stop()


def test_an_array_that_python_2_saved_is_read_without_a_word(recwarn: pytest.WarningsRecorder) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3L,), }".ljust(117) + b"\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + np.arange(3.0).tobytes()
    assert read_array(data).ravel().tolist() == [0.0, 1.0, 2.0]
    assert not recwarn.list


@pytest.mark.parametrize(("batch", "rollout", "found"), [(60, 1000, 50), (64, 2048, 64), (7, 13, 13)])
def test_the_nearest_divisor_of_a_rollout_is_found(batch: float, rollout: float, found: int) -> None:
    assert dividing_batch(batch, rollout) == found


def test_a_divisor_of_a_rollout_of_any_size_is_found_at_once() -> None:
    began = time.monotonic()
    assert (10**18 - 11) % dividing_batch(7, 10**18 - 11) == 0
    assert dividing_batch(7, 1e75) > 1
    assert dividing_batch(7, -12.0) == 1
    assert time.monotonic() - began < 1.0


@pytest.mark.parametrize(
    "table", ["a,b\n1,2\n", "epoch,train/cnt/total_env_steps\nx,y\n", "\x00\xff", "epoch\n1\n", "a\n1,2,3\n"]
)
def test_a_run_with_the_table_of_another_program_is_not_resumed_and_not_touched(tmp_path: Path, table: str) -> None:
    path = tmp_path / "metrics.csv"
    path.write_bytes(table.encode("latin-1") + b"torn")
    for act in (lambda file: file.last_epoch(), lambda file: file.cut_after(0.0)):
        with pytest.raises(UsageError, match="not a table that `rlclinic train` wrote"):
            act(MetricsFile(path))
    assert path.read_bytes() == table.encode("latin-1") + b"torn"


def test_numbers_beyond_the_bounds_are_infinite_or_zero() -> None:
    assert bounded({"a": [HUGE, -HUGE, 1e-320, 10**30, "9" * 400, True, None]}) == {
        "a": [math.inf, -math.inf, 0.0, 10**30, "9" * 400, True, None]
    }
    assert [number(value) for value in (HUGE, math.nan, math.inf, True, "1", 1e-320, 2)] == [None] * 5 + [0.0, 2.0]
    assert bounded_array([1e308, -1e308, 1e-320, 5.0]).tolist() == [math.inf, -math.inf, 0.0, 5.0]
    assert moment(1.7e12) is None
    assert date_text(1.7e9) == "2023-11-14T22:13:20+00:00"

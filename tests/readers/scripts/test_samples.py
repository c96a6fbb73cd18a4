"""Training scripts as people write them: every value that must be found, and those that must be left open."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from rlclinic.readers.configs.normalise import meaning
from rlclinic.readers.identify import Tables
from rlclinic.readers.scripts.load import load_script
from rlclinic.readers.scripts.script import Script, ScriptValue

HERE = Path(__file__).parent
SAMPLES = HERE / "samples"
EXPECTED = yaml.safe_load((HERE / "expected.yaml").read_text())


def chosen(script: Script, algorithm: str = "") -> tuple[list[ScriptValue], dict[str, str]]:
    """The settings that a script would give, and what their keys mean."""
    known = algorithm or (script.algorithms[0] if len(script.algorithms) == 1 else "")
    tables = Tables(script.framework or "unknown")
    names = {value.key: meaning(value.key, tables, known) for value in script.values}
    return script.settings(names, known), names


@pytest.mark.parametrize("name", EXPECTED)
def test_a_script_gives_the_values_of_the_table_and_no_others(name: str) -> None:
    expected = EXPECTED[name]
    script = load_script(SAMPLES / name, environment=expected.get("environment", ""))
    values, names = chosen(script)
    found = {
        value.key: [names[value.key], value.value, value.line, *([value.basis] if value.basis != "script" else [])]
        for value in values
        if names[value.key] and value.basis != "open"
    }
    assert found == expected["found"]
    assert [names[value.key] or value.key for value in values if value.basis == "open"] == expected["open"]
    assert script.framework == expected["framework"]
    assert list(script.algorithms) == expected["algorithms"]


def test_the_table_holds_every_sample_and_at_least_thirty_scripts() -> None:
    files = {str(path.relative_to(SAMPLES)) for path in SAMPLES.rglob("*.*") if "algo" not in path.parts}
    assert files == set(EXPECTED)
    assert sum(not name.endswith((".yml", ".yaml")) for name in EXPECTED) >= 30


def test_a_script_that_would_write_a_file_is_not_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(SAMPLES / "writes_a_file.py", tmp_path)
    script = load_script(tmp_path / "writes_a_file.py")
    assert script.algorithms == ("PPO",)
    assert [path.name for path in tmp_path.iterdir()] == ["writes_a_file.py"]
    # The same file does write when it is run, so the absence of the mark means something.
    source = (tmp_path / "writes_a_file.py").read_text()
    assert 'MARK.write_text("executed")' in source


def test_of_two_algorithms_in_a_script_only_the_arguments_of_the_runs_own_count() -> None:
    script = load_script(SAMPLES / "sb3_two_algorithms.py")
    values, _ = chosen(script, "A2C")
    assert {value.key: value.value for value in values} == {
        "policy": "MlpPolicy", "env": "CartPole-v1", "learning_rate": 7e-4, "n_steps": 5, "total_timesteps": 50_000,
    }  # fmt: skip


def test_a_flag_that_the_command_line_set_replaces_its_default_wherever_the_script_uses_it() -> None:
    script = load_script(SAMPLES / "sb3_dqn_argparse.py", given={"lr": 0.5, "timesteps": 7})
    values, _ = chosen(script)
    found = {value.key: (value.value, value.basis) for value in values}
    assert found["learning_rate"] == (0.5, "script")
    assert found["total_timesteps"] == (7, "script")
    assert found["batch_size"] == (128, "flag default")


def test_a_shell_line_sets_the_flags_of_the_script_that_it_starts() -> None:
    script = load_script(SAMPLES / "shell_starts_script.sh")
    values, _ = chosen(script)
    found = {value.key: (value.value, value.file) for value in values}
    assert found["lr"] == (0.01, "")
    assert found["buffer_size"] == (10_000, "sb3_dqn_argparse.py")
    # The script passes --lr on: its own argument is not a second value.
    assert "learning_rate" not in found or found["learning_rate"][0] == 0.01


def test_a_section_of_another_environment_is_not_taken() -> None:
    values, _ = chosen(load_script(SAMPLES / "zoo_ppo.yml", environment="Pendulum-v1"))
    found = {value.key: value.value for value in values}
    assert found["n_steps"] == 1024
    assert "gae_lambda" not in found
    with pytest.raises(ValueError, match="no section for Acrobot-v1"):
        load_script(SAMPLES / "zoo_ppo.yml", environment="Acrobot-v1")

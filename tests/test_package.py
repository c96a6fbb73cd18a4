"""The package as it is installed: light, complete, working from a wheel."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import rlclinic

ROOT = Path(__file__).parents[1]
# Of all tracked files, and of each but the shards of the fault corpus.
MOST_BYTES, MOST_BYTES_OF_A_FILE = 25_000_000, 1_500_000
HEAVY = ("torch", "pandas", "polars", "wandb", "tensorboard", "google.protobuf", "scipy", "ruptures", "ray", "mcp")


def modules_after(code: str) -> set[str]:
    """The modules that a fresh Python has loaded after running some code."""
    script = f"import sys\n{code}\nprint(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(result.stdout.splitlines()[-1].split())


def test_importing_the_package_loads_nothing_else() -> None:
    assert not modules_after("import rlclinic") & {"numpy", "rich", "typer", "yaml", *HEAVY}


def test_reading_a_run_loads_no_heavy_library(runs: Path) -> None:
    loaded = modules_after(f"import rlclinic; rlclinic.read({str(runs / 'sb3' / 'ppo_cartpole')!r})")
    assert not loaded & set(HEAVY)


def test_a_diagnosis_loads_no_heavy_library(runs: Path) -> None:
    loaded = modules_after(f"import rlclinic; rlclinic.diagnose({str(runs / 'sb3' / 'ppo_cartpole_high_lr')!r})")
    assert not loaded & set(HEAVY)


def test_planning_a_trial_of_ones_own_command_needs_no_gymnasium() -> None:
    assert "gymnasium" not in modules_after(
        "import rlclinic.trials.propose, rlclinic.trials.trial, rlclinic.trials.runners"
    )


def test_every_public_name_exists() -> None:
    for name in rlclinic.__all__:
        assert getattr(rlclinic, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rlclinic.nothing  # type: ignore[attr-defined]


@pytest.mark.foreign
def test_a_wheel_holds_every_file_and_works_in_an_empty_environment(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    wheel = next(tmp_path.glob("*.whl"))
    packed = {name.removeprefix("rlclinic/") for name in zipfile.ZipFile(wheel).namelist()}
    source = ROOT / "src" / "rlclinic"
    wanted = {p.relative_to(source).as_posix() for p in source.rglob("*") if p.suffix in {".py", ".toml", ".typed"}}
    assert wanted <= packed
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [
        str(python),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--constraint",
        str(ROOT / "constraints.txt"),
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True)
    listed = subprocess.run([str(python), "-m", "pip", "list"], check=True, capture_output=True, text=True).stdout
    assert "torch" not in listed
    run = ROOT / "tests" / "fixtures" / "runs" / "sb3" / "ppo_cartpole"
    command = [str(tmp_path / "venv" / "bin" / "rlclinic"), "show", str(run)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert "return/train" in shown.stdout


def test_the_repository_stays_small() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this is no checkout, so what is tracked is not known")
    files = [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]
    sizes = {path.relative_to(ROOT).as_posix(): path.stat().st_size for path in files}
    assert sum(sizes.values()) < MOST_BYTES
    large = {name for name, size in sizes.items() if size >= MOST_BYTES_OF_A_FILE}
    assert {name for name in large if not Path(name).name.startswith("shard-")} == set()

"""Scripts made to exhaust the reader: they end quickly, with a reading or with one clear error."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.scripts.load import MAX_BYTES, load_script

# Seconds of processor time; the slowest takes a third of it.
LIMIT = 10.0

TRAINS = "from stable_baselines3 import PPO\n"
USE = "PPO('MlpPolicy', 'CartPole-v1', learning_rate=x, gamma=0.9)\n"

HOSTILE = {
    "parentheses": "x = " + "(" * 90_000,
    "signs": "x = " + "-" * 200_000 + "1",
    "sum": "x = " + "+".join(["1"] * 100_000),
    "attributes": "x = a" + ".b" * 100_000,
    "calls": "x = f" + "()" * 100_000,
    "lists": "x = " + "[" * 90 + "]" * 90,
    "elif": "if a: pass\n" + "elif a: pass\n" * 20_000,
    "literal": "x = [" + "1," * 200_000 + "]",
    "dict": "x = {" + "".join(f"'k{i}': {i}," for i in range(25_000)) + "}",
    "text": "x = '" + "a" * 400_000 + "'",
    "null byte": "x = 1\0",
    "huge number": "x = 0x" + "f" * 100_000,
    "parameters": f"def f({','.join(f'a{i}=1' for i in range(4_000))}): pass\n" + "f(2)\n" * 10_000,
    "set later": "".join(f"c.k{i} = 1\n" for i in range(4_000)) + "if y: c.z = 1\n" * 4_000 + "x = c.k1",
}
WIDE = "d0 = {" + "".join(f"'k{i}': {i}," for i in range(8_000)) + "}\n"
EVALUATED = {
    "power": "x = 9**9**9**9",
    "float power": "x = 10.0**400",
    "repeated text": "x = 'a' * 10**12",
    "repeated list": "x = [[0] * 1000] * 10**9",
    "doubling": "x0 = 2\n" + "".join(f"x{i + 1} = x{i} + x{i}\n" for i in range(200)) + "x = x200",
    "chain": "x0 = 2\n" + "".join(f"x{i + 1} = x{i}\n" for i in range(5_000)) + "x = x5000",
    "itself": "x = x + 1",
    "each other": "y = x\nx = y",
    "dict in itself": "x = dict(a=x, b=x)",
    "dicts": "d0 = {}\n" + "".join(f"d{i + 1} = dict(a=d{i}, b=d{i})\n" for i in range(60)) + "x = d60",
    "later itself": "c = dict(a=1)\nc['a'] = c['a'] * 2\nx = c['a']",
    "division": "x = 1 / 0",
    "format": "x = f'{9:>999999999}'",
    "shift": "x = 1 << 10**9",
    "rounding": "x = round(7, -1000000000)",
    "width": "x = '%9999999999d' % 1",
    "unpacked dicts": WIDE + "".join(f"d{i + 1} = {{**d{i}, **d{i}}}\n" for i in range(9)) + "x = d9['k1']",
    "joined dicts": WIDE + "".join(f"d{i + 1} = d{i} | d{i}\n" for i in range(9)) + "x = d9['k1']",
    "long text": "y = '" + "a" * 250_000 + "'\n" + ("x = f'" + "{y}" * 300 + "'\n") * 20,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_script_of_hostile_form_ends_with_a_reading_or_one_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(TRAINS + HOSTILE[name] + "\n" + USE)
    start = time.process_time()
    try:
        values = {value.key: value.value for value in load_script(path).values}
        assert values["gamma"] == 0.9
    except FormatError as error:
        assert len(str(error)) < 300  # noqa: PT017 - either outcome is right
    assert time.process_time() - start < LIMIT


@pytest.mark.parametrize("name", EVALUATED)
def test_an_expression_that_would_not_end_is_open_and_the_rest_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(TRAINS + EVALUATED[name] + "\n" + USE)
    start = time.process_time()
    values = {value.key: value for value in load_script(path).values}
    assert time.process_time() - start < LIMIT
    assert values["gamma"].value == 0.9
    rates = [value for key, value in values.items() if key.startswith("learning_rate")]
    assert all(value.basis == "open" for value in rates)


@pytest.mark.parametrize("use", ["$A60", "$A9" * 5_000])
def test_variables_of_a_shell_script_that_double_are_not_filled_in(use: str, tmp_path: Path) -> None:
    doubled = "".join(f'A{i + 1}="${{A{i}}}${{A{i}}}"\n' for i in range(60))
    path = tmp_path / "train.sh"
    path.write_text(f"A0=xx\n{doubled}" + f"python train.py --lr 0.1 --name {use}\n" * 20)
    start = time.process_time()
    values = {value.key: value.value for value in load_script(path).values}
    assert time.process_time() - start < LIMIT
    assert values["lr"] == 0.1
    assert len(str(values["name"])) < 50_000


@pytest.mark.parametrize("suffix", [".py", ".sh", ".ipynb", ".yaml"])
def test_a_file_larger_than_a_script_is_not_read(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"train{suffix}"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES * 17)
    with pytest.raises((FormatError, OSError)):
        load_script(path)


@pytest.mark.parametrize(
    "line", ["$" * 50_000, "${" * 50_000, "python " + "--a " * 60_000, "A=" * 50_000, "python x.py " + "'" * 50_001]
)
def test_shell_lines_made_for_backtracking_end_quickly(line: str, tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text(f"{line}\npython train.py --gamma 0.9\n")
    start = time.process_time()
    values = {value.key: value.value for value in load_script(path).values}
    assert time.process_time() - start < LIMIT
    assert values["gamma"] == 0.9


def test_a_deeply_nested_notebook_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    path.write_text('{"cells": ' + "[" * 5_000 + "]" * 5_000 + "}")
    with pytest.raises(FormatError):
        load_script(path)


def test_a_notebook_with_odd_cells_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    cells = [3, {"cell_type": "code"}, {"cell_type": "code", "source": [1, None, {"a": 1}]},
             {"cell_type": "code", "source": USE.replace("x", "1e-3") + TRAINS}]  # fmt: skip
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}))
    assert {value.key: value.value for value in load_script(path).values}["learning_rate"] == 1e-3


@pytest.mark.parametrize(
    "choice",
    ["../outside", "{root}/outside", "linked", "folder/outside", "x" * 5_000, "a\\0b"],
    ids=lambda text: text[:12],
)
def test_a_default_of_a_config_is_read_from_its_own_folder_alone(choice: str, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "net").mkdir(parents=True)
    (tmp_path / "outside.yaml").write_text("learning_rate: 77\n", encoding="utf-8")
    (own / "net" / "linked.yaml").symlink_to(tmp_path / "outside.yaml")
    (own / "net" / "folder").symlink_to(tmp_path)
    (own / "config.yaml").write_text(
        f'gamma: 0.5\ndefaults:\n  - net: "{choice.format(root=tmp_path)}"\n', encoding="utf-8"
    )
    values = {value.key: value.value for value in load_script(own / "config.yaml").values}
    assert values == {"gamma": 0.5}


def test_a_script_that_a_command_starts_is_no_link_and_may_have_any_name(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "outside.py").write_text("learning_rate = 77\n", encoding="utf-8")
    (tmp_path / "own" / "train.py").symlink_to(tmp_path / "outside.py")
    for program in ("train.py", "x" * 5_000 + ".py"):
        (tmp_path / "own" / "run.sh").write_text(f"python {program} --gamma 0.5\n", encoding="utf-8")
        values = {value.key: value.value for value in load_script(tmp_path / "own" / "run.sh").values}
        assert values == {"gamma": 0.5}


@pytest.mark.parametrize("namespace", ["Cfg", "args"])
def test_many_uses_of_a_large_namespace_are_not_multiplied(namespace: str, tmp_path: Path) -> None:
    fields = "class Cfg:\n" + "".join(f"    f{at} = 1\n" for at in range(3000))
    flags = "".join(f"p.add_argument('--f{at}', default=1)\n" for at in range(3000)) + "args = p.parse_args()\n"
    uses = ", ".join(f"a{at}={namespace}.f{at}" for at in range(3000))
    made = tmp_path / "train.py"
    made.write_text(f"{TRAINS}{fields if namespace == 'Cfg' else flags}PPO(gamma=0.9, {uses})\n")
    began = time.process_time()
    values = load_script(made).values
    assert time.process_time() - began < 3.0
    assert [value.value for value in values if value.key == "gamma"] == [0.9]

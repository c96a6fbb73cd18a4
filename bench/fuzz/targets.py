"""What the inputs go through: each parser, each file in a folder through its reader, whole runs through a diagnosis."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from unittest.mock import patch

from bench.fuzz.opened import IN_MEMORY, OPENED, seeds
from bench.fuzz.seeds import Files, folders, kind_of
from bench.fuzz.shapes import mutated, shortened
from rlclinic.apps.cli.compare import COMPARISON
from rlclinic.apps.cli.fix import decided, fix_object
from rlclinic.comparison.compare import compare
from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.run import Run
from rlclinic.model.summary import run_summary
from rlclinic.readers.configs.arguments import arguments
from rlclinic.readers.configs.untyped import typed
from rlclinic.readers.consoles import PARSERS, find_config
from rlclinic.readers.consoles.counted_lines import parse_counted_lines
from rlclinic.readers.formats.literals.python_literal import load_literal, load_literal_lines
from rlclinic.readers.formats.logs.log_lines import clean_lines, decode
from rlclinic.readers.formats.logs.log_text import excerpts
from rlclinic.readers.formats.logs.notebook import notebook_text
from rlclinic.readers.formats.safe_json import load_json
from rlclinic.readers.formats.tables.csv_table import read_csv
from rlclinic.readers.formats.tables.json_lines import read_json_lines
from rlclinic.readers.formats.tensorboard.tfevents import read_events
from rlclinic.readers.formats.wandb.wandb_log import read_wandb_log
from rlclinic.readers.formats.yaml.safe_yaml import load_yaml
from rlclinic.readers.open import read
from rlclinic.readers.redaction.redact import redact
from rlclinic.reports.formats import FORMATS, Context, render
from rlclinic.reports.run_json import dumps, show_object
from rlclinic.reports.run_text import show_text
from rlclinic.rules.documentation import page_of
from rlclinic.rules.registry import RULES

INPUT = "input"
"""The name of the one file that a parser is given."""
TEXT = ("log", "csv", "json", "jsonl", "yaml")
# Most inputs of parsers are cut to about one of these, so that a million of them take minutes.
USUAL_BYTES = (300, 800, 2_500)
# Of a hundred inputs of parsers how many are a folder, one file of a folder, and a file that is opened by its name. To
# write them and to find a reader takes most of the time; each of the targets still has thousands of a million inputs.
FOLDERS, READ, NAMED_FILES = 1, 8, 11
# Read by a process of its own, which takes as long as hundreds of others, and whose coverage is not seen.
IN_A_CHILD, ONE_IN = "open:steps.parquet", 20

METRICS = b"step,return,loss\n0,1,2\n100,2,1\n200,3,0.5\n"
# Files that a reader looks at by name, and what must lie beside them for the folder to be a run.
_SB3, _SOLVER = {"progress.csv": METRICS}, {"metrics.csv": METRICS, "config.json": b"{}"}
_AGENTS = {"configuration.yaml": b"a: 1", "run_logs/timers.json": b"{}", "metrics.csv": METRICS}
NAMED: dict[str, Files] = {
    "evaluations.npz": {}, "monitor.csv": {}, "progress.csv": {}, "result.json": {}, "trainer_state.json": {},
    "train.log": {}, "notebook.ipynb": {}, "metrics.jsonl": {}, "events.out.tfevents.1794786765.host": {},
    "run-cliff.wandb": {}, "runs.db": {}, "model.zip": _SB3, "config.yaml": _SB3, "args.json": _SB3, "args.txt": _SB3,
    "params.json": _SB3, "command.txt": _SB3, "config.json": _SOLVER, "metrics.csv": _SOLVER, "status.json": _SOLVER,
    "run.log": _SOLVER, ".hydra/overrides.yaml": {".hydra/config.yaml": b"lr: 1", **_SB3},
    "configuration.yaml": _AGENTS, "run_logs/timers.json": _AGENTS, "observed.npz": _SB3, "summary.json": {},
    "rewards.npy": {}, "results.npz": {}, "rewards.json": {}, "run.json": {"metrics.json": b"{}"},
    "info.json": {"run.json": b"{}"}, "metrics.json": {"run.json": b"{}"}, "train.py": _SB3,
}  # fmt: skip
ODD_NAMES = ("a::b", "\u202etxt.csv", "a\nb.log", "x" * 200, "\x1b[31m.json", "@last", "-rf.yaml", "sk-" + "a1" * 20)


@dataclass(frozen=True, slots=True)
class Case:
    """One input and where it goes."""

    target: str
    files: Files


def scratch() -> Path:
    """A folder of this process, in memory where there is such a place."""
    return _scratch(os.getpid())


@cache
def _scratch(_process: int) -> Path:
    memory = Path("/dev/shm")
    base = tempfile.mkdtemp(prefix="rlclinic-fuzz-", dir=memory if os.access(memory, os.W_OK) else None)
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    os.environ["RLCLINIC_INDEX"] = f"{base}/index.sqlite"
    # The root of a project: nothing above it is looked at.
    (Path(base) / "pyproject.toml").touch()
    return Path(base)


def _text(function: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: function(decode(data))


def _lines(*functions: Callable[[Sequence[str]], object]) -> Callable[[bytes], object]:
    return lambda data: [function(lines) for lines in (clean_lines(data),) for function in functions]


PARSED: dict[str, tuple[tuple[str, ...], Callable[[bytes], object]]] = {
    "csv": (("csv",), read_csv),
    "json-lines": (("jsonl", "json"), read_json_lines),
    "events": (("events",), read_events),
    "wandb": (("wandb",), read_wandb_log),
    "yaml": (("yaml",), _text(load_yaml)),
    "json": (("json",), _text(load_json)),
    "notebook": (("json",), notebook_text),
    "literal": (TEXT, _text(load_literal)),
    "literal-lines": (TEXT, _text(load_literal_lines)),
    "consoles": (("log",), _lines(*PARSERS, parse_counted_lines)),
    "printed-config": (("log",), _lines(find_config)),
    "excerpts": (("log",), _lines(excerpts)),
    "arguments": (TEXT, _text(lambda text: [arguments(line) for line in text.splitlines()[:20]])),
    "typed": (TEXT, _text(lambda text: [typed(line) for line in text.splitlines()[:50]])),
    "redact": (TEXT, _text(redact)),
    **IN_MEMORY,
}


@cache
def targets() -> tuple[str, ...]:
    """Every target that one file goes through."""
    return (*PARSED, *(f"open:{name}" for name in OPENED), *(f"file:{name}" for name in NAMED))


def kinds_of(target: str) -> tuple[str, ...]:
    """The kinds of seed that fit a target."""
    if target in PARSED:
        return PARSED[target][0]
    if target.startswith("open:"):
        return OPENED[target.removeprefix("open:")][0]
    kind = kind_of(target)
    return ("log", "csv") if target.endswith("monitor.csv") else (kind if kind in seeds() else "json",)


def parser_case(seed: int, number: int) -> Case:
    """Input `number` of the level of parsers and readers."""
    rng = Random(f"{seed}:parsers:{number}")
    way = rng.randrange(100)
    if way < FOLDERS:
        return Case("read", mutated_folder(rng))
    group = "file:" if way < FOLDERS + READ else "open:" if way < FOLDERS + READ + NAMED_FILES else ""
    fitting = [name for name in targets() if name.startswith(group) and (group or ":" not in name)]
    target = rng.choice(fitting)
    if target == IN_A_CHILD and rng.randrange(ONE_IN):
        target = rng.choice([name for name in fitting if name != IN_A_CHILD])
    every = seeds()
    kind = rng.choice(kinds_of(target) if rng.randrange(20) else tuple(every))
    data, other = rng.choice(every[kind]), rng.choice(every[rng.choice(tuple(every))])
    if rng.randrange(12):
        data = _window(data, rng.choice(USUAL_BYTES), rng) if kind in TEXT else shortened(kind, data, rng)
    return Case(target, {INPUT: mutated(kind, data, other, rng)})


def diagnose_case(seed: int, number: int) -> Case:
    """Input `number` of the level of whole diagnoses."""
    return Case("diagnose", mutated_folder(Random(f"{seed}:diagnose:{number}")))


def _window(data: bytes, size: int, rng: Random) -> bytes:
    """The head, which says what the columns are, and some lines from anywhere."""
    if len(data) <= size:
        return data
    head = data.find(b"\n") + 1
    start = data.find(b"\n", rng.randrange(len(data))) + 1 if rng.randrange(2) else head
    return data[: min(head, max(USUAL_BYTES))] + data[start : start + size]


def mutated_folder(rng: Random) -> Files:
    """A recorded run in which a few files are changed, missing, renamed or somebody else's."""
    found = dict(rng.choice(folders()))
    names = list(found)
    for name in rng.sample(names, min(len(names), rng.choice((1, 1, 2, 4)))):
        found[name] = mutated(kind_of(name), found[name], b"", rng)
    top = names[0].partition("/")[0]
    match rng.randrange(24):
        case 0 if len(names) > 1:
            del found[rng.choice(names)]
        case 1:
            found[rng.choice(names)] = b""
        case 2 | 3:
            name, data = rng.choice(list(rng.choice(folders()).items()))
            found[f"{top}/{name.partition('/')[2]}"] = data
        case 4:
            found[f"{top}/{rng.choice(list(NAMED))}"] = found.pop(rng.choice(names))
        case 5:
            found[f"{top}/{rng.choice(ODD_NAMES)}"] = rng.choice(list(found.values()))
    return found


def run(case: Case) -> None:
    """Send an input through its target. Whatever is raised reaches the caller."""
    if case.target in PARSED:
        PARSED[case.target][1](case.files[INPUT])
        return
    way, _, named = case.target.partition(":")
    content = case.files
    if way == "file":
        content = {f"run/{name}": data for name, data in {**NAMED[named], named: case.files[INPUT]}.items()}
    base = scratch() / "case"
    try:
        if way == "open":
            write_files(base, {named: case.files[INPUT]})
            OPENED[named][1](base / named)
            return
        write_files(base, content)
        found = read(min(base.iterdir()))
        if case.target == "diagnose":
            _everything(found)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def write_files(base: Path, content: Files) -> None:
    """Write files by relative path."""
    base.mkdir(parents=True, exist_ok=True)
    for name, data in content.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class CaughtError(Exception):
    """A report names an exception that a rule raised, or is not valid."""


def _everything(found: Run) -> None:
    """A diagnosis in every format, and what `show`, `runs`, `compare` and `fix` make of the run."""
    diagnosis = diagnose(found)
    for item in diagnosis.not_checked:
        if item.error:
            raise CaughtError(f"{item.code}: {item.error}")
    context = Context(90, colour=True, detail="full", guides=guides())
    for row in FORMATS:
        text = render(row, [diagnosis], context)
        text.encode()
        if row.name in {"json", "sarif"}:
            strict(text)
    show_text(found, everything=True).encode()
    for value in (show_object(found), run_summary(found)):
        strict(dumps(value))
    known = {id(found): diagnosis, id(neighbour()): _diagnosed_neighbour()}
    # Both were diagnosed already, and that is most of the time.
    with patch("rlclinic.comparison.compare.diagnose", lambda run: known[id(run)]):
        comparison = compare([found, neighbour()], reference=True)
    for name, (module, function) in COMPARISON.items():
        style = {"width": 90, "colour": True} if name == "text" else {}
        written = getattr(import_module(f"rlclinic.reports.{module}"), function)(comparison, **style)
        strict(dumps(written))
    outcome, _ = decided(diagnosis, None, "", unsafe=True, writes=False)
    strict(dumps(fix_object(outcome)))


def strict(text: str) -> None:
    """JSON as every parser takes it: no NaN, no infinity."""

    def refuse(name: str) -> object:
        raise CaughtError(f"{name} in JSON")

    json.loads(text, parse_constant=refuse)


@cache
def guides() -> dict[str, dict[str, str]]:
    """The documentation of the rules, which SARIF carries."""
    return {row.code: dict(page_of(row).sections) for row in RULES}


@cache
def _diagnosed_neighbour() -> Diagnosis:
    return diagnose(neighbour())


@cache
def neighbour() -> Run:
    """A sound run to compare with."""
    from bench.fuzz.seeds import RUNS

    return read(RUNS / "sb3" / "ppo_cartpole")

"""What other commands than `show` open: recorded steps, responses, scripts, problems, configs to edit, growing logs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from bench.fuzz.seeds import ROOT, files
from rlclinic.advisor.advise import advice_on, known_problem
from rlclinic.facts.environment.measure import facts_of, table_of
from rlclinic.facts.samples import review_samples
from rlclinic.live.kept import kept_of
from rlclinic.model.transitions import Observed
from rlclinic.prescriptions.code_search import patterns
from rlclinic.prescriptions.edit.document import edit_document
from rlclinic.prescriptions.edit.edits import MISSING, Edit
from rlclinic.prescriptions.edit.python_file import edit_python
from rlclinic.readers.formats.logs.log_lines import decode
from rlclinic.readers.samples import read_samples
from rlclinic.readers.scripts.load import load_script
from rlclinic.readers.transitions.trace import read_trace
from rlclinic.reports.advice_formats import advice_object
from rlclinic.reports.samples_formats import samples_object, samples_text

SHELL = (
    b"#!/bin/sh\n#SBATCH --time=1\nexport LR=3e-4 SEED=1\nfor s in 1 2; do\n  python train.py --lr $LR --seed $s \\\n"
    b'    --env-id "CartPole-v1" --gamma=0.99 --no-anneal-lr $(nproc) ${BS:-64} algorithm.kl_ctrl.kl_coef=0.001\ndone\n'
)
PROBLEM = (
    b"title: a crane\nenv: {id: CartPole-v1, available: yes, parallel: 8}\ntask: {action: box, horizon: 500}\n"
    b"reward: {known: yes, sparse: no}\nbudget:\n  env_steps: 20000\nrun.algo: PPO\n"
)
TOML = (
    b'[train]\nlearning_rate = 3e-4 # slow\ngamma = 0.99\nlayers = [64, 64]\n[train.net]\nname = "a"\n[[part]]\nx = 1\n'
)
ROW = '{"step": %d, "prompt": "What is %d + 1?", "response": "It is \\\\boxed{%d}", "score": %s, "acc": 1}\n'
LIST = '[{"input": [{"role": "user", "content": "hi"}], "output": "%s", "reward": 0.5, "step": %d}]'


@cache
def seeds() -> dict[str, tuple[bytes, ...]]:
    """Inputs by kind; those of recorded runs, and what no recorded run holds."""
    scripts = sorted((ROOT / "tests" / "fixtures" / "make").glob("*.py"), key=lambda path: path.stat().st_size)
    rows = "".join(ROW % (at, at, at % 7, at % 3 / 2) for at in range(12))
    return {
        **files(),
        "python": tuple(path.read_bytes() for path in scripts[:12]),
        "shell": (SHELL,),
        "toml": (TOML,),
        "problem": (PROBLEM,),
        "samples": (rows.encode(), (LIST % ("no " * 40, 3)).encode()),
        "steps": (_archive(**_steps(24)), _archive(**_steps(3), next_obs=np.ones((3, 3)), timeouts=np.ones(3))),
        "step-rows": (b"obs_0,obs_1,action,reward,done\n" + b"0.1,-2,1,0.5,0\n-3,4,0,1,1\n" * 6,),
        "observed": (_observed(16, ()), _observed(30, ("alive", "speed"))),
        "parquet": (_parquet(),),
        "npy": tuple(_array(values) for values in (np.arange(9.0), np.ones((6, 2)), np.ones(7, dtype="i4"))),
    }  # fmt: skip


def _steps(count: int) -> dict[str, np.ndarray]:
    at = np.arange(count)
    return {
        "observations": np.sin(at[:, None] * (1, 2, 3)), "actions": at % 2, "rewards": np.cos(at), "dones": at % 8 == 7,
    }  # fmt: skip


def _archive(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def _array(values: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def _observed(count: int, names: tuple[str, ...]) -> bytes:
    """What `Observe` writes, with two episodes."""
    at, seen = np.arange(count), np.sin(np.arange(count)[:, None] * (1.0, 2.0)).astype("f4")
    box = {"kind": "box", "low": [-1, None], "high": [1, None], "names": []}
    told = {
        "schema": "rlclinic.observed/1", "environment": "CartPole-v1", "observation_space": box,
        "action_space": {"kind": "discrete", "low": [0], "high": [1], "names": []}, "components": names,
        "steps": 2 * count, "episodes": 2, "not_finite": 0,
    }  # fmt: skip
    return _archive(
        observations=seen, actions=(at[:, None] % 2).astype("f4"), rewards=np.cos(at), next_observations=-seen,
        flags=np.stack([at % 8 == 7, at % 8 == 3], axis=1).astype("u1"),
        places=np.stack([at * 0, at // 8, at % 8, at], axis=1), components=np.ones((count, len(names))),
        episodes=np.ones((2, 5)), first=seen[:2], last=seen[:2],
        told=np.frombuffer(json.dumps(told).encode(), dtype="u1"),
    )  # fmt: skip


def _parquet() -> bytes:
    import pyarrow
    from pyarrow import parquet

    steps = {name: list(values) for name, values in _steps(24).items()}
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(steps), out)
    return out.getvalue()


def _examined(path: Path) -> None:
    steps = read_trace(path)
    facts_of(Observed("CartPole-v1", steps, table_of(steps), len(steps)), "trace")


def _advised(path: Path) -> None:
    advice_object(advice_on(known_problem(path, "", "", None, trusted=False)))


def _reviewed(path: Path) -> None:
    review = review_samples(*read_samples(path))
    samples_text(review)
    samples_object(review)


OPENED: dict[str, tuple[tuple[str, ...], Callable[[Path], object]]] = {
    "steps.npz": (("steps",), _examined),
    "steps.csv": (("step-rows",), _examined),
    "steps.parquet": (("parquet",), read_trace),
    "rows.jsonl": (("samples",), _reviewed),
    "rows.json": (("samples", "json"), _reviewed),
    "train.py": (("python",), load_script),
    "train.sh": (("shell",), load_script),
    "train.ipynb": (("json",), load_script),
    "train.yaml": (("yaml", "problem"), load_script),
    "problem.yaml": (("problem",), _advised),
}
"""By the name of the file what it is made from and what opens it."""


def _edited(suffix: str, *keys: str) -> Callable[[bytes], object]:
    edits = [Edit(tuple(key.split(".")), MISSING, 0.5) for key in keys]
    return lambda data: edit_document(decode(data), edits, suffix)


def edited_python(data: bytes) -> object:
    """A script with the learning rate changed."""
    return edit_python(decode(data), [Edit(("learning_rate",), MISSING, 1e-4)], [""])


def followed(data: bytes) -> None:
    """A growing file in two parts, as a table, as events and as a log."""
    half = len(data) // 2
    for name in ("a.csv", "a.tfevents", "a.log"):
        kept = kept_of(name)
        assert kept is not None
        taken = kept.take(data[:half])
        kept.take(data[taken:])
        kept.content()


def searched(data: bytes) -> None:
    """A script as `--code` looks at it."""
    for line in decode(data).splitlines():
        for pattern in patterns().values():
            pattern.is_wrong(line)
            pattern.find.search(line)


IN_MEMORY: dict[str, tuple[tuple[str, ...], Callable[[bytes], object]]] = {
    "edit-yaml": (("yaml", "problem"), _edited(".yaml", "gamma", "task.action")),
    "edit-json": (("json",), _edited(".json", "gamma", "a.b")),
    "edit-toml": (("toml",), _edited(".toml", "train.gamma", "train.net.size")),
    "edit-python": (("python",), edited_python),
    "follow": (("csv", "jsonl", "events", "log"), followed),
    "search-code": (("python",), searched),
}

"""Inputs that coverage chooses: libFuzzer through atheris, in an environment of its own (`.venv-fuzz`)."""

from __future__ import annotations

import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.fuzz.work import Tally

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-fuzz" / "bin" / "python"
CORPUS = ROOT / "bench" / "data" / "corpus"
MOST_BYTES = 16_000
# Recorded files that every target begins with.
SEEDS_PER_TARGET = 6
REPORT_SECONDS = 5.0
SLICES = ROOT / "bench" / "data" / "guided"
# Processor time of one process. atheris keeps memory with every input, so it is started afresh before that is much.
SLICE_SECONDS = 900.0


def guided(seed: int, cpu_seconds: float, processes: int) -> tuple[Tally, float, str]:
    """Run atheris in processes of their own until they have used the time; failures are tried again without it.

    What each came to is kept until all is done, so that an interrupted call goes on with the same arguments.
    """
    from bench.fuzz.work import Failure, Tally

    whole, used, edges, folder = Tally(), 0.0, 0, SLICES / str(seed)
    folder.mkdir(parents=True, exist_ok=True)
    while (left := cpu_seconds - sum(_load(path)["seconds"] for path in folder.glob("*.json"))) > 1:
        jobs = []
        for _ in range(processes):
            number = len(list(folder.glob("*.log")))
            out, log = folder / f"{number}.json", folder / f"{number}.log"
            seconds = min(SLICE_SECONDS, left / processes)
            command = [PYTHON, "-m", "bench.fuzz.guided", str(seed + number), str(seconds), str(out)]
            with log.open("wb") as file:
                jobs.append((subprocess.Popen(command, stderr=file, stdout=file, cwd=ROOT), out, log))
        for process, out, log in jobs:
            code = process.wait()
            if code or not out.exists():
                last_words = log.read_text("utf-8", "replace")[-500:]
                whole.fail(Failure(f"atheris ended with {code}", last_words, "guided", 0, {}))
                cpu_seconds -= 0 if out.exists() else seconds
            print(f"  slice {out.stem} ended, {max(left - seconds * processes, 0):,.0f} s are left", flush=True)
    for path in sorted(folder.glob("*.json")):
        told = path.with_suffix(".log").read_text("utf-8", "replace")
        edges = max([edges, *(int(count) for count in re.findall(r"cov: (\d+)", told))])
        found = _load(path)
        used += found.pop("seconds")
        _add(found, whole)
    shutil.rmtree(folder)
    return whole, used, f"atheris 3.0.0, {edges:,} edges"


def _add(found: dict[str, Any], whole: Tally) -> None:
    from bench.fuzz.targets import Case
    from bench.fuzz.work import DOCUMENTED, Failure, Tally, attempt

    failures = [Failure(**item) for item in found.pop("failures")]
    whole.add(Tally(**{**found, "slowest": tuple(found["slowest"])}))
    for hexed in failures:
        failure = replace(hexed, files={name: bytes.fromhex(str(data)) for name, data in hexed.files.items()})
        # Instrumented code is slower, so what was slow there is measured without.
        try:
            real = attempt(Case(failure.target, failure.files))
        except DOCUMENTED:
            real = None
        if real is not None or "TooSlow" not in failure.where:
            whole.fail(failure)


def _work(seed: int, seconds: float, out: Path) -> None:
    import atheris

    with atheris.instrument_imports(include=["rlclinic"], enable_loader_override=False):
        import rlclinic.readers

        for module in pkgutil.walk_packages(rlclinic.readers.__path__, "rlclinic.readers."):
            import_module(module.name)
        from bench.fuzz import targets, work
        from bench.fuzz.shapes import mutated
    names = tuple(name for name in targets.targets() if name != targets.IN_A_CHILD)
    tally, started = work.Tally(), _resident()
    told = time.monotonic()

    def one(data: bytes) -> None:
        nonlocal told
        if data:
            case = targets.Case(names[data[0] % len(names)], {targets.INPUT: data[1:]})
            work.measured(case, tally.inputs, tally)
        over = time.process_time() > seconds
        if over or time.monotonic() - told > REPORT_SECONDS:
            told = time.monotonic()
            tally.peak = _resident()
            tally.grown = tally.peak - started
            _write(out, tally)
        if over:
            shutil.rmtree(targets.scratch(), ignore_errors=True)
            sys.stderr.flush()
            os._exit(0)

    def mutate(data: bytes, most: int, number: int) -> bytes:
        rng = Random(number)
        if len(data) < 2 or rng.randrange(2):
            return atheris.Mutate(data, most)
        kind = rng.choice(targets.kinds_of(names[data[0] % len(names)]))
        return (data[:1] + mutated(kind, data[1:], b"", rng))[:most]

    _seed(names, targets, Random(seed))
    options = [
        f"-seed={seed}",
        f"-max_len={MOST_BYTES}",
        "-timeout=90",
        "-rss_limit_mb=4096",
        f"-artifact_prefix={out.parent}/",
    ]
    atheris.Setup([sys.argv[0], *options, str(CORPUS)], one, custom_mutator=mutate)
    atheris.Fuzz()


def _seed(names: tuple[str, ...], targets: Any, rng: Random) -> None:
    """A few recorded files for every target; what earlier runs found stays."""
    CORPUS.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        known = [data for kind in targets.kinds_of(name) for data in targets.seeds()[kind]]
        for count, data in enumerate(rng.sample(known, min(SEEDS_PER_TARGET, len(known)))):
            (CORPUS / f"seed-{number}-{count}").write_bytes(bytes([number]) + data[:MOST_BYTES])


def _write(out: Path, tally: Tally) -> None:
    failures = [
        {**asdict(item), "files": {name: data.hex() for name, data in item.files.items()}}
        for item in tally.failures.values()
    ]
    told = {name: getattr(tally, name) for name in ("inputs", "refused", "slowest", "peak", "grown")}
    beside = out.with_suffix(".part")
    beside.write_text(json.dumps({**told, "seconds": time.process_time(), "failures": failures}), encoding="utf-8")
    beside.replace(out)


def _load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _resident() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    _work(int(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3]))

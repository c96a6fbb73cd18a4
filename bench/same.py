"""Whether two checkouts diagnose alike: `python -m bench.same BASE` (`make same BASE=ref`).

Both diagnose the recorded fault runs (with and without their config), the fixtures and the corpora beside the
repository, each run by the command line and in its own process's code. What differs is printed: verdict, findings,
causes, prescriptions, decision path, exit code; and where only the wording does, how often.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CORPORA = (ROOT / "../shared/corpus", ROOT / "../shared/corpus2")
CLOSE = 1e-6
"""Probabilities and confidences nearer than this are the same."""
SHOWN = 40
PARTS = ("faults", "fixtures", "corpora")


def main(arguments: list[str]) -> int:
    """Compare the working tree with a commit; 1 where they differ."""
    parser = argparse.ArgumentParser(prog="python -m bench.same")
    parser.add_argument("base", help="a commit")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--show", type=int, default=SHOWN, help="differences to print")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        answers = compared(options.base, list(_paths(options.parts.split(","), folder)), folder)
    return 2 if answers is None else compare(*answers, options.show, str(folder))


def compared(base: str, paths: list[str], folder: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """What a commit and the working tree say of runs, by path; None where one of them fails."""
    (folder / "paths.json").write_text(json.dumps(paths), encoding="utf-8")
    checkout = folder / "base"
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", checkout, base], cwd=ROOT, check=True)
    try:
        jobs = [_start(place, folder, name) for place, name in ((checkout, "before"), (ROOT, "after"))]
        ended = [job.wait() for job in jobs]
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", checkout], cwd=ROOT, check=True)
    return None if any(ended) else (_load(folder / "before.jsonl"), _load(folder / "after.jsonl"))


def compare(before: dict[str, Any], after: dict[str, Any], show: int, prefix: str = "") -> int:
    """Print what differs; 1 where anything but wording does."""
    kinds: Counter[str] = Counter()
    lines = []
    for path, old in before.items():
        found = differences(old, after[path])
        kinds.update(found.keys())
        kinds["runs that differ"] += any(kind != "wording" for kind in found)
        told = [f"  {kind}: {was} -> {now}" for kind, (was, now) in found.items() if kind != "wording"]
        lines += [path.removeprefix(f"{prefix}/"), *told] if told else []
    for line in lines[: show * 3]:
        print(line if len(line) < 400 else f"{line[:400]} ...")
    print(f"{len(before)} runs: " + (", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))))
    return int(kinds["runs that differ"] > 0)


def differences(old: dict[str, Any], new: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What differs between two answers, by kind."""
    return {
        kind: _changed(old[kind], new[kind]) if isinstance(old[kind], list) else (old[kind], new[kind])
        for kind in old
        if not _same(old[kind], new[kind])
    }


def _changed(old: list[Any], new: list[Any]) -> tuple[Any, Any]:
    gone = [item for item in old if not any(_same(item, other) for other in new)]
    come = [item for item in new if not any(_same(item, other) for other in old)]
    return (gone, come) if gone or come else ("order", [item[0] if isinstance(item, list) else item for item in new])


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= CLOSE * max(1.0, abs(a), abs(b))
    return bool(a == b)


def _paths(parts: list[str], folder: Path) -> Iterator[str]:
    if "fixtures" in parts:
        from rlclinic.readers.discover import find

        yield from sorted(ref.name for ref in find(ROOT / "tests/fixtures/runs"))
    if "corpora" in parts:
        import yaml

        for corpus in CORPORA:
            labels = corpus / "labels.yaml"
            for label in yaml.safe_load(labels.read_text(encoding="utf-8")) if labels.is_file() else ():
                yield str(corpus / label["path"])
    if "faults" in parts:
        from bench.faults.plan import entries
        from bench.faults.replay import write
        from bench.faults.shards import latest

        known = entries()
        for number, record in enumerate(latest()):
            if record.name in known:
                for config in (True, False) if not record.files else (True,):
                    place = folder / "faults" / f"{number:04d}"
                    yield str(write(record, known[record.name].instance, place, config=config))


def _start(checkout: Path, folder: Path, name: str) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ, "PYTHONPATH": f"{checkout / 'src'}:{os.environ.get('PYTHONPATH', '')}",
        "RLCLINIC_LEDGER": str(folder / "none.sqlite"),
        "RLCLINIC_INDEX": str(folder / f"{name}.sqlite"), "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    command = [sys.executable, "-P", __file__, "--answer", str(folder / "paths.json"), str(folder / f"{name}.jsonl")]
    return subprocess.Popen(command, cwd=folder, env=environment)


def _load(path: Path) -> dict[str, Any]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row.pop("path"): row for row in rows}


def answer_all(paths: Path, output: Path) -> None:
    """Diagnose every path with the code on PYTHONPATH."""
    with open(output, "w", encoding="utf-8") as file:
        for path in json.loads(paths.read_text(encoding="utf-8")):
            file.write(json.dumps({"path": path, **answer(path)}) + "\n")


def answer(path: str) -> dict[str, Any]:
    """What the command line says of a run, without its wording."""
    from click.testing import CliRunner

    from rlclinic.apps.cli.main import app
    from rlclinic.reports import diagnosis_json

    # Reports round; what is compared is not rounded.
    diagnosis_json.DIGITS = 12
    result = CliRunner().invoke(app, ["diagnose", path, "--json"])
    code = getattr(result.exception, "exit_code", result.exit_code)
    if not result.stdout:
        return {"exit code": int(code), "error": type(result.exception).__name__, "wording": str(result.exception)}
    data = json.loads(result.stdout)
    findings = data.get("findings", ())
    return {
        "exit code": int(code),
        "error": "",
        "verdict": data.get("verdict"),
        "findings": [[item["code"], item["severity"], item["confidence"], item["onset_step"]] for item in findings],
        "not checked": [item["code"] for item in data.get("not_checked", ())],
        "causes": [[item["id"], item["probability"], item["metrics_only"], item["config_only"], item["component"]]
                   for item in data.get("causes", ())],
        "prescriptions": [[item["priority"], item["kind"], item["safety"], item["causes"],
                           json.dumps(item["changes"]), item["native"] and item["native"].get("text")]
                          for item in data.get("prescriptions", ())],
        "decision path": data.get("decision_path", []),
        "wording": json.dumps(data),
    }  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["--answer"]:
        answer_all(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        sys.exit(main(sys.argv[1:]))

"""Secrets planted wherever a reader looks: none may leave."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from bench.attack.command import Options, a_run, call, check, sound
from bench.attack.server import answer, served

# Made up, in the shapes that real ones have.
SHAPES = {
    "wandb_api_key": "3f9a" * 10, "db_password": "correct-horse-9", "passphrase": "open sesame 77",
    "openai": "sk-proj-Zq8vB3nM5xK7wJ2hR9tY4uL6pD1sF0gA", "github": "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "aws_secret_access_key": "wJalrXUtnFEMIK7MDENGbPxRfiCYzzEXAMPLEKEY", "slack": "xoxb-123456789012-abcdefghijklmnop",
    "hf_token": "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345", "linear": "lin_api_" + "a1B2" * 10, "api_keys": "k-19ab77cd20ef",
    "docker": "dckr_pat_" + "x7Y" * 9, "url": "postgres://user:s3cretpw99@db/x",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlc2lnbmF0dXJl",
}  # fmt: skip
# Of a URL only the password is secret.
HIDDEN = {name: "s3cretpw99" if name == "url" else value for name, value in SHAPES.items()}
SHAPED = ("openai", "github", "slack", "hf_token", "linear", "docker", "jwt")
FORMATS = ("text", "markdown", "json", "html", "github", "sarif")


def planted(place: Path) -> dict[str, Path]:
    """Runs of several frameworks with every secret in configs, logs, metrics' names, notes and arguments."""
    solver = a_run(place, "gymnasium_solver/runs/local-20260115-103000", "runs/solver")
    config = solver / "config.json"
    config.write_text(
        json.dumps(
            {
                **json.loads(config.read_text()),
                **SHAPES,
                "nested": {"env": [SHAPES], "args": [f"--{k}={v}" for k, v in SHAPES.items()]},
            }
        )
    )
    log = solver / "run.log"
    lines = [f"export {k.upper()}={v}\n--{k} {v}\nERROR: login with {k}: {v} failed" for k, v in SHAPES.items()]
    # In prose only a shape of its own gives a secret away.
    lines += [f"using {SHAPES[name]} now" for name in SHAPED]
    log.write_text("\n".join([*lines, log.read_text()]))
    sb3 = a_run(place, to="runs/sb3")
    (sb3 / "config.yaml").write_text("\n".join(f"{name}: {json.dumps(value)}" for name, value in SHAPES.items()))
    (sb3 / "args.txt").write_text(
        "Namespace(" + ", ".join(f"{name}={value!r}" for name, value in SHAPES.items()) + ")\n"
    )
    csv = sb3 / "progress.csv"
    head, _, rest = csv.read_text().partition("\n")
    token = SHAPES["github"]
    csv.write_text(f"{head},{token}\n" + "\n".join(f"{line},1" for line in rest.splitlines()) + "\n")
    named = Path(shutil.copytree(sb3, place / "runs" / f"run-{SHAPES['hf_token']}"))
    return {"solver": solver, "sb3": sb3, named.name: named}


def planted_secrets(place: Path, _: Options) -> str:
    runs = planted(place)
    told: dict[str, str] = {"runs": sound(place, "runs", "runs", "--json").out + sound(place, "runs", "runs").out}
    for name, run in runs.items():
        told[f"show {name}"] = sound(place, "show", run, "--all").out + sound(place, "show", run, "--json").out
        for form in FORMATS:
            told[f"diagnose {form} {name}"] = sound(place, "diagnose", run, "--output-format", form).out
        told[f"fix {name}"] = sound(place, "fix", run).out
        looks = (
            ("advise", "--run", run), ("compare", run, "--reference"), ("watch", run, "--once"), ("stop", run),
            ("explain", run, "--why", "learning-rate-too-high"), ("samples", run),
        )  # fmt: skip
        for words in looks:
            told[f"{words[0]} {name}"] = call(place, *words).out
    told["status"] = sound(place, "status", "runs").out
    for form in FORMATS[:4]:
        told[f"compare {form}"] = sound(place, "compare", *runs.values(), "--no-history", "--output-format", form).out
    with served(place) as talk:
        for tool in (
            "diagnose",
            "show_run",
            "get_run_info",
            "get_run_logs",
            "comprehensive_diagnostic",
            "list_available_metrics",
            "propose_fix",
            "advise",
            "watch_run",
        ):
            for name in runs:
                told[f"MCP {tool} {name}"] = answer(talk, tool, run_id=name)
        told["MCP list_runs"] = answer(talk, "list_runs")
    leaks = sorted({(way, name) for way, text in told.items() for name, value in HIDDEN.items() if value in text})
    ways = ", ".join(f"{name} by {way.split(' run-')[0]}" for way, name in leaks[:5])
    check(
        not leaks, f"{len({name for _, name in leaks})} of {len(SHAPES)} secrets leave in {len(leaks)} places: {ways}"
    )
    return f"{len(SHAPES)} secrets, {len(told)} ways out"


ATTACKS: tuple[Callable[[Path, Options], str], ...] = (planted_secrets,)

"""kill -9 at random moments: what is left can be read and goes on, and nothing is half-written."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from bench.attack.command import TINY, Options, a_run, check, end, moments, sound, start, trained

TRAIN = ("train", "CartPole-v1:a2c", "--steps", 4_000, "--quiet", *TINY, "-o", "checkpoint_freq=400")
SHORT = ("--override", "n_envs=2", "--override", "total_steps=300")
# Seconds in which a run that is watched would grow to twice its length.
WATCHED = 30.0
# Shares of the kills; train is what people kill.
SHARES = {"train": 0.3, "trial": 0.15, "optimize": 0.1, "fix": 0.2, "runs": 0.15, "watch": 0.1}


def _kills(
    place: Path,
    options: Options,
    verb: str,
    words: tuple[object, ...],
    after: Callable[[Path], None],
    before: Callable[[Path], None] = lambda _: None,
) -> str:
    """Kill a command at shares of the time that it takes when it is left alone; look at what is left each time."""
    before(place)
    began = time.monotonic()
    sound(place, *words, codes=(0, 1, 5))
    whole, count, alive = time.monotonic() - began, max(1, round(options.kills * SHARES[verb])), 0
    for share in moments(options, count):
        before(place)
        process = start(place, *words)
        time.sleep(share * whole)
        alive += process.poll() is None
        end(process)
        after(place)
    return f"{count} kills over {whole:.1f} s, {alive} while it ran"


def _fresh(place: Path) -> None:
    shutil.rmtree(place / "runs", ignore_errors=True)


def _whole(place: Path) -> None:
    """Everything below the place is either whole or not there."""
    for path in place.rglob("*"):
        if path.suffix == ".json" and path.is_file():
            try:
                json.loads(path.read_text())
            except ValueError:
                check(condition=False, detail=f"{path.name} is half-written")


def train(place: Path, options: Options) -> str:
    def after(place: Path) -> None:
        _whole(place)
        for run in (place / "runs").glob("*/config.json"):
            for words in (("show", run.parent), ("diagnose", run.parent), ("status", "runs"), ("runs", "runs")):
                sound(place, *words)
            if any((run.parent / "checkpoints").glob("step=*")):
                sound(place, "train", "--resume", run.parent, "--quiet", codes=(0,))
                state = json.loads((run.parent / "status.json").read_text())
                check(state["state"] == "finished", f"resumed, and then {state['state']}")

    return _kills(place, options, "train", TRAIN, after, _fresh)


def trial(place: Path, options: Options) -> str:
    run = trained(place)
    words = ("trial", run, "--change", "learning_rate=0.002", "--seeds", 2, "--budget", 300, "--workers", 2)

    def after(place: Path) -> None:
        _whole(place)
        sound(place, "runs", "runs")
        sound(place, *words, codes=(0, 1, 5))

    def before(place: Path) -> None:
        shutil.rmtree(place / "runs" / "trials", ignore_errors=True)
        for path in place.glob("trials.sqlite*"):
            path.unlink()

    return _kills(place, options, "trial", words, after, before)


def optimize(place: Path, options: Options) -> str:
    words = ("optimize", "CartPole-v1:a2c", "--budget", 1_500, "--workers", 2, *SHORT)

    def after(place: Path) -> None:
        _whole(place)
        sound(place, "runs", "runs")
        sound(place, *words, codes=(0, 1, 5))

    return _kills(place, options, "optimize", words, after, _fresh)


def fix(place: Path, options: Options) -> str:
    a_run(place, "sb3/ppo_cartpole_high_lr", "runs/victim")
    config, old = place / "settings.yaml", "# mine\nlearning_rate: 0.05  # high\n" + "# a long comment\n" * 2_000
    words = ("fix", "victim", "--config", config, "--write", "--unsafe", "--prescription", 1)
    seen: set[str] = set()

    def before(place: Path) -> None:
        for path in place.glob("settings.yaml*"):
            path.unlink()
        config.write_text(old)

    def after(place: Path) -> None:
        text = config.read_text()
        seen.add(text)
        check(text == old or text.count("\n") == old.count("\n"), "the config is half-written")
        for path in place.glob("settings.yaml.bak*"):
            check(path.read_text() == old, f"{path.name} is half-written")
        sound(place, *words)
        left = [path.name for path in place.iterdir() if path.name.endswith((".part", ".tmp"))]
        check(not left, f"left over after the next fix: {left}")

    told = _kills(place, options, "fix", words, after, before)
    check(len(seen) <= 2, f"{len(seen)} different contents of the config")
    return told


def runs(place: Path, options: Options) -> str:
    for number in range(40):
        a_run(place, "gymnasium_solver/runs/local-20260115-103000", f"runs/run{number:02}")

    def before(place: Path) -> None:
        for path in place.glob("index.sqlite*"):
            path.unlink()

    def after(place: Path) -> None:
        told = json.loads(sound(place, "runs", "runs", "--json", codes=(0,)).out)
        check(len(told["runs"]) == 40, f"{len(told['runs'])} of 40 runs listed after a kill")

    return _kills(place, options, "runs", ("runs", "runs", "--json"), after, before)


def watch(place: Path, options: Options) -> str:
    """A run that grows while it is watched, so that alerts are written."""
    log = a_run(place, "sb3/ppo_cartpole_high_lr", "runs/victim") / "progress.csv"
    head, *rows = log.read_bytes().splitlines(keepends=True)
    alerts = place / "alerts.jsonl"
    count, alive = max(1, round(options.kills * SHARES["watch"])), 0
    for share in moments(options, count):
        log.write_bytes(head + b"".join(rows[: len(rows) // 2]))
        process = start(place, "watch", "runs", "--interval", 0.1, "--json", "--sink", f"jsonl:{alerts}")
        for row in rows[len(rows) // 2 :]:
            time.sleep(share * WATCHED / len(rows))
            with log.open("ab") as file:
                file.write(row)
        alive += process.poll() is None
        end(process)
        check(log.read_bytes() == head + b"".join(rows), "the run that was watched has changed")
        for line in alerts.read_text().splitlines() if alerts.exists() else ():
            json.loads(line)
        sound(place, "watch", "runs", "--once")
    return f"{count} kills within {WATCHED / 2:g} s, {alive} while it ran"


ATTACKS: tuple[Callable[[Path, Options], str], ...] = (train, trial, optimize, fix, runs, watch)

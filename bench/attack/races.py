"""Calls to a server while the folders that it reads are swapped for links out of its root."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from bench.attack.command import Options, a_run, check, sound
from bench.attack.server import served, text_of

PRIVATE = "PrivateWorld-v7"
# A read takes a few milliseconds, so that a swap often falls into one.
AWAY_SECONDS, HOME_SECONDS = 0.002, 0.02
TOOLS = (
    "diagnose",
    "show_run",
    "get_run_info",
    "get_run_metrics",
    "get_run_logs",
    "list_available_metrics",
    "health_check",
)


def folders_swapped_for_links(place: Path, options: Options) -> str:
    """No answer tells of a run outside the root, however often the folder becomes a link between check and read."""
    root = place / "project"
    (root / "runs").mkdir(parents=True)
    inside = a_run(root, "gymnasium_solver/runs/local-20260115-103000")
    outside = a_run(place, "gymnasium_solver/runs/local-20260115-103000", "private")
    config = outside / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "env_id": PRIVATE, "project_id": PRIVATE}))
    (outside / "run.log").write_text(f"{PRIVATE}\nERROR: {PRIVATE}\n" + (outside / "run.log").read_text())
    over, swaps, rng = threading.Event(), [0], Random(options.seed)

    def swap() -> None:
        aside = root / "aside"
        link, log = root / "link", inside / "run.log"
        while not over.is_set():
            link.symlink_to(outside)
            inside.rename(aside)
            link.rename(inside)
            time.sleep(rng.random() * AWAY_SECONDS)
            inside.unlink()
            aside.rename(inside)
            log.rename(aside)
            log.symlink_to(outside / "run.log")
            log.unlink()
            aside.rename(log)
            # What has not changed would be answered from memory.
            (inside / "metrics.csv").touch()
            swaps[0] += 1
            time.sleep(rng.random() * HOME_SECONDS)

    thread, leaks, answered = threading.Thread(target=swap, daemon=True), [], 0
    with served(root) as talk:
        thread.start()
        try:
            for number in range(options.races):
                tool = TOOLS[number % len(TOOLS)]
                more = {"metrics": ["return/train"]} if tool == "get_run_metrics" else {}
                result = talk.call(tool, run_id="victim", **more)
                answered += not result.is_error
                if PRIVATE in f"{text_of(result)}{result.structured_content}":
                    leaks.append(tool)
        finally:
            over.set()
            thread.join()
    check(not leaks, f"{len(leaks)} of {options.races} calls read outside the root: {', '.join(sorted(set(leaks)))}")
    check(answered > options.races / 50, f"only {answered} of {options.races} calls were answered at all")
    return f"{options.races} calls, {answered} answered, {swaps[0]} swaps"


def two_servers_on_one_root(place: Path, _: Options) -> str:
    """Both train, both see both trainings, and none disturbs the other."""
    a_run(place)
    with served(place) as one, served(place) as two:
        ids = []
        for talk in (one, two, one):
            result = talk.call("start_training", config_id="CartPole-v1:a2c", max_env_steps=200)
            told = result.structured_content or {}
            if not result.is_error:
                ids.append(told.get("run_id") or told.get("job_id"))
        check(len(set(ids)) == len(ids) >= 2, f"started {ids}")
        seen = []
        for talk in (one, two):
            ended = [talk.call("wait_for_training_completion", run_id=name) for name in ids]
            check(not any(item.is_error for item in ended), f"a server does not know one of {ids}")
            seen.append(talk.data("list_runs"))
        check(seen[0] == seen[1], "the servers list different runs")
    sound(place, "runs", "runs", codes=(0,))
    return f"{len(ids)} trainings seen by both"


ATTACKS: tuple[Callable[[Path, Options], str], ...] = (folders_swapped_for_links, two_servers_on_one_root)

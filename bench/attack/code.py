"""Attempts to have code of a run folder executed. Every payload leaves a mark."""

from __future__ import annotations

import json
import pickle
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.attack.command import Options, a_run, call, check, edit, sound, trained
from bench.attack.kills import SHORT
from bench.attack.server import answer, served
from rlclinic.readers.process import process_start

# Modules of the standard library that training and its libraries import.
SHADOWS = ("queue", "statistics", "shlex", "random", "json", "numpy", "torch", "gymnasium", "sitecustomize")
# Overrides that name code or another task, by every name that they go by.
OVERRIDES = ("env", "env_id", "env_name", "env_wrapper", "env_wrappers", "env_kwargs", "task", "environment", "gym_id")
TRIAL = ("--change", "learning_rate=0.002", "--seeds", 1, "--budget", 64, "--workers", 1)


class _Payload:
    """A pickle that runs a command when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        import os

        return os.system, (f"touch {self.mark}",)


def _module(path: Path, mark: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"open({str(mark)!r}, 'a').write(__name__)\n"
        "import gymnasium\n"
        "class Env(gymnasium.Env): pass\n"
        "gymnasium.register('Id-v0', entry_point=Env)\n"
    )


def _unmarked(mark: Path, how: str) -> None:
    check(not mark.exists(), f"{how}: the payload was executed")


def environment_of_the_run(place: Path, _: Options) -> str:
    """`module:Class` in a run's own config, beside the run, by command line and by MCP."""
    mark, run = place / "MARK", trained(place)
    _module(run / "payload.py", mark)
    _module(place / "evil.py", mark)
    for name in (f"runs.{run.name}.payload:Env", "evil:Env", "evil:Id-v0", f"runs.{run.name}.payload:Id-v0"):
        edit(run / "config.json", env_id=name)
        call(place, "trial", run, *TRIAL)
        _unmarked(mark, f"trial of {name}")
        call(place, "train", "--resume", run)
        _unmarked(mark, f"train --resume of {name}")
        looks = (("show", run), ("fix", run), ("compare", run, "--reference"), ("diagnose", run, "--code", place))
        for words in (*looks, ("examine", "--run", run), ("advise", "--run", run), ("watch", run, "--once")):
            sound(place, *words)
        _unmarked(mark, f"a look at {name}")
    with served(place) as talk:
        talk.call("start_trial", run_id=run.name, changes={"learning_rate": 0.002}, seeds=1, budget=64)
        for tool in ("examine_environment", "advise", "watch_run", "run_play"):
            talk.call(tool, run_id=run.name)
    _unmarked(mark, "MCP")
    return "4 names, 0 imported"


def wrappers_of_the_run(place: Path, _: Options) -> str:
    """Wrappers that import a module of the run or write files."""
    mark, run = place / "MARK", trained(place, env_kwargs={"render_mode": "rgb_array"})
    _module(place / "evil.py", mark)
    names = ("RecordVideo", "gymnasium.wrappers:RecordVideo", "evil:Wrapper")
    for name in names:
        edit(run / "config.json", env_wrappers=[{"id": name, "video_folder": str(mark)}])
        call(place, "trial", run, *TRIAL)
        _unmarked(mark, f"wrapper {name}")
    return f"{len(names)} wrappers, none made"


def modules_in_the_working_folder(place: Path, _: Options) -> str:
    """Files named like the standard library, where commands and the server are started and below the root."""
    run, mark = trained(place), place / "MARK"
    for name in SHADOWS:
        for folder in (place, place / "runs"):
            (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r})\nraise SystemExit(9)\n")
    for words in (
        ("show", run), ("train", "CartPole-v1:a2c", "--steps", 64, "--quiet", "-o", "n_envs=2"), ("trial", run, *TRIAL),
        ("train", "CartPole-v1:a2c", "--steps", 64, "--background", "-o", "n_envs=2"), ("fix", run),
        ("optimize", "CartPole-v1:a2c", "--budget", 1_500, "--workers", 2, *SHORT), ("runs", "runs"),
    ):  # fmt: skip
        sound(place, *words, codes=(0, 1, 5))
        _unmarked(mark, f"{words[0]} in a folder with {', '.join(SHADOWS[:3])}.py")
    with served(place) as talk:
        answer(talk, "start_training", config_id="CartPole-v1:a2c", max_env_steps=64)
        answer(talk, "start_trial", run_id=run.name, changes={"learning_rate": 0.002}, seeds=1, budget=64)
        answer(talk, "probe_trainer", trainer="sb3:A2C")
    _unmarked(mark, "the MCP server's jobs")
    return f"{len(SHADOWS)} names in 2 folders"


def shell_in_a_command_template(place: Path, _: Options) -> str:
    """Values of a run in the user's own training command, also inside a word that a shell reads."""
    mark, run = place / "MARK", trained(place)
    values = (f"x; touch {mark} #", f"$(touch {mark})", f"`touch {mark}`", f"' ; touch {mark} ; '", f"x\ntouch {mark}")
    rest = "{learning_rate} {seed} {logdir}"
    templates = (f"sh -c 'echo {{env_id}} {rest}'", f"bash -c \"echo '{{env_id}}'\" {rest}", f"echo {{env_id}} {rest}")
    for value in values:
        edit(run / "config.json", env_id=value)
        for template in templates:
            call(place, "trial", run, *TRIAL, "--command", template)
            _unmarked(mark, f"{template} with {value!r}")
    return f"{len(values)} values in {len(templates)} templates"


def pickles_and_tags(place: Path, _: Options) -> str:
    run, mark = a_run(place), place / "MARK"
    evil = pickle.dumps(_Payload(mark))
    with zipfile.ZipFile(run / "model.zip", "w") as archive:
        text = json.dumps(
            {"policy_class": {":type:": "x", ":serialized:": __import__("base64").b64encode(evil).decode()}}
        )
        for name, data in {
            "data": text.encode(),
            "_stable_baselines3_version": b"2.4",
            "policy.pth": evil,
            "data.pkl": evil,
        }.items():
            archive.writestr(name, data)
    np.savez(run / "evaluations.npz", timesteps=np.array([_Payload(mark)], dtype=object), results=np.zeros(1))
    for name in ("vecnormalize.pkl", "model.pt", "policy.pth", "params.pkl", "args.pkl", "data.npy"):
        (run / name).write_bytes(evil)
    tags = f"a: !!python/object/apply:os.system ['touch {mark}']\nb: !!python/object/new:os.system ['touch {mark}']\n"
    for name in ("config.yaml", "args.yml", "config.yml"):
        (run / name).write_text(tags)
    (run / "args.txt").write_text(f"Namespace(a=__import__('os').system('touch {mark}'))\n")
    for words in (("show", run), ("diagnose", run), ("runs", "runs"), ("fix", run), ("compare", run)):
        sound(place, *words)
        _unmarked(mark, words[0])
    with served(place) as talk:
        for tool in ("diagnose", "show_run", "get_run_info", "list_checkpoints", "comprehensive_diagnostic"):
            answer(talk, tool, run_id="victim")
    _unmarked(mark, "MCP")
    return "12 files"


def overrides_of_the_server(place: Path, _: Options) -> str:
    """What names code is refused under every name, before anything is started."""
    mark, run = place / "MARK", trained(place)
    _module(place / "evil.py", mark)
    taken = []
    with served(place) as talk:
        for key in OVERRIDES:
            for spelled in (key, key.upper(), key.replace("_", "")):
                for tool, arguments in (
                    (
                        "start_training",
                        {"config_id": "CartPole-v1:a2c", "max_env_steps": 64, "overrides": {spelled: "evil:Env"}},
                    ),
                    ("start_trial", {"run_id": run.name, "changes": {spelled: "evil:Env"}, "seeds": 1, "budget": 64}),
                ):
                    if not talk.call(tool, **arguments).is_error:
                        taken.append(f"{tool} {spelled}")
    _unmarked(mark, "an override of the server")
    check(not taken, f"taken: {', '.join(taken[:6])}")
    return f"{len(OVERRIDES)} names refused"


def processes_that_only_a_file_names(place: Path, _: Options) -> str:
    """status.json and job.json with the true number and start of somebody else's process: nothing is sent to it."""
    run = trained(place)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as stranger:
        who = {"pid": stranger.pid, "process_started": process_start(stranger.pid), "host": socket.gethostname()}
        edit(run / "status.json", state="running", heartbeat=time.time(), **who)
        job = place / ".rlclinic" / "jobs" / "trial-20260101-000000-abcd"
        job.mkdir(parents=True)
        facts = {"id": job.name, "kind": "trial", "what": "", "started": 1.0, **who}
        (job / "job.json").write_text(json.dumps(facts))
        stopped = call(place, "stop", run, "--timeout", 2)
        with served(place) as talk:
            for name in (run.name, job.name):
                talk.call("stop_training", run_id=name)
        alive = stranger.poll() is None
        stranger.kill()
    check(alive, "a foreign process was ended")
    check(stopped.code == 2 and "no training of this folder" in stopped.out, f"stop: {stopped.out[:200]}")
    return "command line and MCP"


ATTACKS: tuple[Callable[[Path, Options], str], ...] = (
    environment_of_the_run, wrappers_of_the_run, modules_in_the_working_folder, shell_in_a_command_template,
    pickles_and_tags, overrides_of_the_server, processes_that_only_a_file_names,
)  # fmt: skip

"""Folders that cost the reader far more than they cost the sender."""

from __future__ import annotations

import gzip
import io
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.attack.command import Options, a_run, call, check, sound

MB = 1 << 20
CSV = "time/total_timesteps,rollout/ep_rew_mean\n0,1\n100,2\n"
# Seconds of processor time that any look at a bomb may take, the start of Python included.
QUICK_SECONDS = 30


def _looked_at(place: Path, run: Path) -> str:
    """Every look at a folder ends soon, with a documented exit code, in bounded memory."""
    slowest = 0.0
    for words in (
        ("show", run),
        ("diagnose", run, "--json"),
        ("runs", place, "--json"),
        ("compare", run, "--no-history"),
    ):
        result = sound(place, *words)
        check(result.seconds < QUICK_SECONDS, f"{result.command}: {result.seconds:.0f} s")
        slowest = max(slowest, result.seconds)
    return f"slowest {slowest:.1f} s"


def _lying_zip(members: dict[str, int], claimed: int, head: bytes = b"") -> bytes:
    """Members of one character whose directory claims that they are small."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, size in members.items():
            with archive.open(name, "w", force_zip64=True) as member:
                member.write(head)
                for _ in range(max(1, size // MB)):
                    member.write(b" " * min(size, MB))
    whole = bytearray(out.getvalue())
    at = whole.find(b"PK\x01\x02")
    while at >= 0:
        if struct.unpack_from("<I", whole, at + 24)[0] > claimed:
            struct.pack_into("<I", whole, at + 24, claimed)
        at = whole.find(b"PK\x01\x02", at + 4)
    return bytes(whole)


def zip_that_lies_about_its_size(place: Path, _: Options) -> str:
    run = a_run(place)
    data = _lying_zip({"data": 2_000 * MB, "_stable_baselines3_version": 5}, 1_000)
    for name in ("model.zip", "best_model.zip"):
        (run / name).write_bytes(data)
    return f"{len(data) / MB:.1f} MB for 2 GB, {_looked_at(place, run)}"


def npz_that_lies_about_its_size(place: Path, _: Options) -> str:
    run = a_run(place)
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (250 * MB,)})
    members = {"timesteps.npy": 2_000 * MB, "results.npy": 2_000 * MB}
    (run / "evaluations.npz").write_bytes(_lying_zip(members, 1_000, head.getvalue()))
    return _looked_at(place, run)


def gzip_bomb(place: Path, _: Options) -> str:
    run = a_run(place)
    for name in ("metrics.csv.gz", "progress.csv", "train.log.gz", "events.out.tfevents.1.gz"):
        (run / name).write_bytes(gzip.compress(bytes(500 * MB), 1))
    return _looked_at(place, run)


def yaml_aliases(place: Path, _: Options) -> str:
    run = a_run(place)
    lines = [
        "a0: &a0 [x, x, x, x, x, x, x, x, x]",
        *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)),
    ]
    (run / "config.yaml").write_text("\n".join([*lines, "loop: &loop [*loop]"]))
    return _looked_at(place, run)


def nested_brackets(place: Path, _: Options) -> str:
    for depth in (1_000, 100_000):
        run = a_run(place, "gymnasium_solver/runs/local-20260115-103000", f"runs/nested-{depth}")
        for name in (
            "status.json",
            "config.json",
            "params.json",
            "trainer_state.json",
            "config.yaml",
            "args.txt",
            "run.log",
        ):
            (run / name).write_text("[" * depth + "]" * depth)
        told = _looked_at(place, run)
    sound(place, "status", "runs")
    return told


def sparse_huge_files(place: Path, _: Options) -> str:
    run = a_run(place)
    names = ("config.yaml", "model.zip", "evaluations.npz", "args.json", "train.log")
    for name in names:
        with (run / name).open("wb") as file:
            file.truncate(1 << 40)
    return _looked_at(place, run)


def pipes_that_never_speak(place: Path, _: Options) -> str:
    run = a_run(place)
    for name in ("progress.csv", "train.log", "config.yaml", "config.json", "model.zip", "monitor.csv", "a.db"):
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)
    told = _looked_at(place, run)
    call(place, "show", run / "progress.csv")
    return told


def links_to_devices_and_secrets(place: Path, _: Options) -> str:
    run, secret = a_run(place), place / "outside.txt"
    secret.write_text("learning_rate: 0.123454321\npassword: hunter2-outside\n")
    targets = {"progress.csv": "/dev/zero", "train.log": "/dev/random", "config.yaml": secret, "args.txt": secret}
    for name, target in {**targets, "run.log": "/proc/self/environ", "a.csv": "/etc/passwd"}.items():
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(target)
    told = _looked_at(place, run)
    out = sound(place, "show", run, "--all").out
    check(
        "0.123454321" not in out and "hunter2" not in out and "root:" not in out, "a link out of the run was followed"
    )
    return told


def two_hundred_thousand_files(place: Path, _: Options) -> str:
    run = a_run(place)
    crowd = run / "a"
    crowd.mkdir()
    for number in range(200_000):
        os.close(os.open(crowd / f"{number:06}.bin", os.O_CREAT | os.O_WRONLY))
    for number in range(6_000):
        os.close(os.open(run / f"aaa-{number:05}.bin", os.O_CREAT | os.O_WRONLY))
    told = _looked_at(place, run)
    check("ep_rew_mean" in sound(place, "show", run, "--all").out, "the metrics are not found among the files")
    return told


def deep_folders_and_long_names(place: Path, _: Options) -> str:
    run = a_run(place)
    back = Path.cwd()
    os.chdir(run)
    try:
        for _number in range(1_500):
            Path("d").mkdir()
            os.chdir("d")
        Path("progress.csv").write_text(CSV)
    finally:
        os.chdir(back)
    for name in (
        b"x" * 255,
        b"new\nline.csv",
        b"\xff\xfe.csv",
        b"\x1b[31m.log",
        "\u202egpj.csv".encode(),
        b"--json.csv",
        b"a::b.csv",
    ):
        with open(os.path.join(os.fsencode(run), name), "w") as file:  # noqa: PTH118
            file.write(CSV)
    told = _looked_at(place, run)
    _remove_deep(run)
    return told


def link_loops(place: Path, _: Options) -> str:
    run = a_run(place)
    (run / "a.csv").symlink_to("b.csv")
    (run / "b.csv").symlink_to("a.csv")
    (run / "again").symlink_to(".")
    (run / "up").symlink_to("..")
    return _looked_at(place, run)


def a_folder_with_colons(place: Path, _: Options) -> str:
    run = a_run(place, to="runs/a::b")
    result = sound(place, "show", run)
    check(result.code == 0, "a folder named a::b cannot be opened")
    return "read"


def one_bad_run_among_good_ones(place: Path, _: Options) -> str:
    """The list of runs, `@last` and ids work whatever one of the runs holds."""
    for number in range(3):
        a_run(place, to=f"runs/good{number}")
    bad = a_run(place, "gymnasium_solver/runs/local-20260115-103000", "runs/bad")
    (bad / "config.json").write_text('{"learning_rate": ' + "9" * 400 + ', "total_steps": ' + "9" * 400 + "}")
    (bad / "status.json").write_text("[" * 100_000)
    (bad / "metrics.csv").write_text("epoch,total_timesteps,roll/ep_rew/mean\n1," + "9" * 400 + ",1e400\n2,nan,-inf\n")
    out = sound(place, "runs", "runs", "--json").out
    check(all(f"good{number}" in out for number in range(3)), "a good run is missing from the list")
    for words in (("show", "@last"), ("show", "good1"), ("diagnose", "bad"), ("status", "runs", "--all")):
        sound(place, *words)
    return "3 good runs listed"


def _remove_deep(folder: Path) -> None:
    """Names of 1,500 folders are too long for a path, so the nest is taken apart from its top."""
    nest = folder / "d"
    while nest.exists():
        inner = nest / "d"
        for path in nest.iterdir():
            if path != inner:
                path.unlink()
        if not inner.exists():
            nest.rmdir()
            return
        inner.rename(folder / "next")
        nest.rmdir()
        (folder / "next").rename(nest)


ATTACKS: tuple[Callable[[Path, Options], str], ...] = (
    zip_that_lies_about_its_size, npz_that_lies_about_its_size, gzip_bomb, yaml_aliases, nested_brackets,
    sparse_huge_files, pipes_that_never_speak, links_to_devices_and_secrets, two_hundred_thousand_files,
    deep_folders_and_long_names, link_loops, a_folder_with_colons, one_bad_run_among_good_ones,
)  # fmt: skip

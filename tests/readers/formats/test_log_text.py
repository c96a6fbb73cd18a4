"""Console logs: clean lines, true excerpts, no false alarms, no secrets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.logs.log_text import (
    clean_lines,
    decode,
    excerpts,
    final_exception,
    strip_ansi,
    strip_ray_prefix,
)
from tests.growth import grows_linearly

SIMPLE = [
    "Traceback (most recent call last):",
    '  File "train.py", line 3, in <module>',
    "    main()",
    "    ^^^^^^",
    '  File "train.py", line 2, in main',
    '    raise ValueError("batch size 100 does not divide 256")',
    "ValueError: batch size 100 does not divide 256",
]
CHAINED = [
    "Traceback (most recent call last):",
    '  File "a.py", line 1, in f',
    "    x = table[name]",
    "KeyError: 'lr'",
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    *SIMPLE,
]
RAY = [
    "Error executing job with overrides: ['data.train_batch_size=128']",
    "Traceback (most recent call last):",
    '  File "main_ppo.py", line 110, in main',
    "    ray.get(main_task.remote(config))",
    "ray.exceptions.RayTaskError(OutOfMemoryError): \x1b[36mray::main_task()\x1b[39m (pid=28, ip=10.0.0.1)",
    '  File "main_ppo.py", line 198, in main_task',
    "    trainer.fit()",
    "ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.update() (pid=29, ip=10.0.0.1, repr=<W at 0x7f>)",
    '  File "dp_actor.py", line 276, in update_policy',
    "    loss.backward()",
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.07 GiB. GPU",
    "",
    "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.",
]
IPYTHON = [
    "---------------------------------------------------------------------------",
    "RuntimeError                              Traceback (most recent call last)",
    "Cell In[3], line 1",
    "----> 1 model.learn(1000)",
    "",
    "File ~/sb3/ppo.py:315, in PPO.learn(self)",
    "    314 def learn(self):",
    "--> 315     return super().learn()",
    "",
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied",
]
FALSE_ALARMS = [
    "step:7 - td_error:0.1 - value_error:0.25 - actor/lr:1e-06",
    "Generation KL Error: 0.1",
    "| train/td_error     | 0.0123 |",
    "TDError: 0.31",
    "found 0 errors, 0 warnings",
    "  --error-if-nan    raise an error when a loss is nan",
    "error_if_nan: true",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING: 1, HYDRA_FULL_ERROR=1",
    "[I1210 15:06:01.026860598 ProcessGroupNCCL.cpp:2171] NCCL_DEBUG: WARN",
    "2025-01-01 10:00:00 INFO trainer: error rate fell, no ERROR seen",
    "Over 1000 British soldiers were killed and many more were taken prisoner.",
    "every celebration of the Olympic Games with the exception of the 1980 Olympics",
    "  warnings.warn(  # warn only once",
    "    raise ValueError(",
    "logs/ERROR.txt written, see error.log",
    "mean_squared_error=0.5 rms error 0.2",
    "Warning: 0",
    "W0606 11:12:45.781000 12152 torch/distributed/run.py:793] *****",
    "The standard error of the mean return is 12.5",
    "ERROR: 0.25",
]
ALARMS = {
    "RuntimeError: CUDA error: device-side assert triggered": "error",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB": "error",
    "RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate": "error",
    "slurmstepd: error: Detected 1 oom_kill event in StepId=1.batch.": "error",
    "/var/spool/job/slurm_script: line 12: 12345 Killed                  python train.py": "error",
    "Killed": "error",
    "python3: can't open file '/work/train_v4.py': [Errno 2] No such file or directory": "error",
    "/usr/bin/python: No module named train": "error",
    "train.py: error: unrecognized arguments: --envs 4": "error",
    "Segmentation fault (core dumped)": "error",
    "KeyboardInterrupt": "error",
    "Fatal Python error: Aborted": "error",
    "OSError: [Errno 28] No space left on device": "error",
    "2025-01-01 10:00:00,123 ERROR worker.py:12 -- the raylet died": "error",
    "[ERROR] could not open the dataset": "error",
    "CRITICAL:root:value loss is nan": "error",
    "train.py: error: unrecognized arguments: --foo": "error",
    "Error executing job with overrides: ['a=1']": "error",
    "KeyError: 3": "error",
    "E0608 08:11:07.000000 12152 torch/elastic/api.py:897] failed (exitcode: 1)": "error",
    "[WARNING] OBSERVATION TOO LONG, CONSIDER CHANGING YOUR CONFIG, 542 & 500": "warning",
    "/x/fsdp.py:440: UserWarning: FSDP is switching to use `NO_SHARD`": "warning",
    "gym WARN: Box bound precision lowered by casting to float32": "warning",
    "W0608 08:11:07.000000 12152 torch/elastic/api.py:897] Sending process 1 closing signal SIGHUP": "warning",
    "Warning: find_unused_parameters=True was specified": "warning",
}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"abc \xc3\xa9", "abc é"),
        (b"\xef\xbb\xbfabc", "abc"),
        ("abc é\n".encode("utf-16"), "abc é\n"),
        ("abc é\n".encode("utf-16-le"), "abc é\n"),
        ("abc é\n".encode("utf-16-be"), "abc é\n"),
        ("abc é\n".encode("utf-32"), "abc é\n"),
        (b"caf\xe9 cr\xe8me", "café crème"),
        (b"a\0b\0\0c", "abc"),
        ("█ 50%".encode() + b"\xe2\x96", "█ 50%\ufffd"),
        (b"plain text, torn \xe2\x96", "plain text, torn \ufffd"),
        (b"", ""),
    ],
)
def test_bytes_are_decoded(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_terminal_codes_are_removed() -> None:
    assert strip_ansi("\x1b[1m\x1b[32mok\x1b[39m\x1b[22m \x1b]0;title\x07\x1b[2Kend\x1b(B") == "ok end"


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("(main_task pid=1234) step:1", "step:1"),
        ("(TaskRunner pid=1, ip=10.0.0.1)   indented", "  indented"),
        ("\x1b[36m(WorkerDict pid=2840753)\x1b[0m text", "text"),
        ("\x1b[2m\x1b[36m(pid=926049)\x1b[0m text", "text"),
        ("(PPO(env=CartPole-v1; lr=0.1) pid=7) text", "text"),
        ("(wiQkzJWorkerDict_0:0 WorkerDict pid=934604) text", "text"),
        ("(raylet) spilled", "spilled"),
        ("(raylet, ip=10.0.0.2) spilled", "spilled"),
        ("(1, 2) text", "(1, 2) text"),
        ("see (pid=5)", "see (pid=5)"),
        ("", ""),
    ],
)
def test_ray_prefixes_are_removed(line: str, rest: str) -> None:
    assert strip_ray_prefix(line) == rest


def test_a_progress_bar_shows_its_last_state() -> None:
    data = b"start\r\n\r  0%|    | 0/9\r 50%|##  | 5/9\r100%|####| 9/9\r\n\x1b[36m(W pid=1)\x1b[0m \ra 1/2\ra 2/2\nend"

    assert clean_lines(data) == ["start", "100%|####| 9/9", "a 2/2", "end"]


def test_a_metric_that_a_progress_bar_overwrites_is_kept() -> None:
    assert clean_lines(b" 1%|# | 1/9\r{'loss': 0.5}\r 2%|# | 2/9\n") == ["{'loss': 0.5}  2%|# | 2/9"]


def test_lines_keep_their_numbers() -> None:
    assert clean_lines("a\n\nb\x85c\u2028d\r\ne\n".encode()) == ["a", "", "b\x85c\u2028d", "e"]
    assert clean_lines(b"") == []


def test_a_metric_line_of_100_000_characters_stays_whole_and_a_longer_one_is_cut() -> None:
    lines = clean_lines(b"a" * 100_000 + b"\n" + b"b" * 1_000_000)

    assert lines[0] == "a" * 100_000
    assert lines[1] == "b" * 100_000 + " [cut: 900000 more characters]"


def test_an_exception_whose_frames_were_not_copied_ends_the_run_unless_the_run_goes_on() -> None:
    line = "[rank7]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB."
    found = final_exception(["step 1", line, "[launch.py:319:sigkill_handler] Killing subprocess 33131"])
    assert found is not None
    assert found[0].startswith("torch.cuda.OutOfMemoryError")
    assert final_exception([line, *(f"step {at}" for at in range(12))]) is None


@pytest.mark.parametrize("line", FALSE_ALARMS)
def test_a_harmless_line_is_no_alarm(line: str) -> None:
    assert excerpts([line]) == ()
    assert final_exception([line]) is None


@pytest.mark.parametrize(("line", "kind"), ALARMS.items())
def test_an_alarm_is_seen(line: str, kind: str) -> None:
    found = excerpts(["calm", line, "calm"])

    assert [(item.kind, item.line, item.text) for item in found] == [(kind, 2, line)]


@pytest.mark.parametrize(
    ("block", "message", "line"),
    [
        (SIMPLE, SIMPLE[-1], 7),
        (CHAINED, SIMPLE[-1], 14),
        (RAY[1:], RAY[10], 10),
        (IPYTHON[1:], IPYTHON[-1], 9),
        ([f"[rank0]: {text}" for text in SIMPLE], SIMPLE[-1], 7),
        ([f"\x1b[36m(TaskRunner pid=12, ip=10.0.0.1)\x1b[0m {text}" for text in SIMPLE], SIMPLE[-1], 7),
        ([f"    {text}" for text in SIMPLE], SIMPLE[-1], 7),
        ([*SIMPLE[:-1], "KeyboardInterrupt"], "KeyboardInterrupt", 7),
        ([*SIMPLE[:-1], "socket.timeout: timed out"], "socket.timeout: timed out", 7),
        ([*SIMPLE[:-1], "omegaconf.errors.ConfigKeyError: no 'x'", "    full_key: x"],
         "omegaconf.errors.ConfigKeyError: no 'x'", 7),
        ([SIMPLE[0], "2025-01-01 INFO another process: hello", *SIMPLE[1:]], SIMPLE[-1], 8),
    ],
    ids=["plain", "chained", "ray", "ipython", "torchrun", "ray prefix", "indented", "interrupt", "lower",
         "long", "mixed"],
)  # fmt: skip
def test_a_traceback_is_one_excerpt_and_its_exception_the_final_one(block: list[str], message: str, line: int) -> None:
    lines = ["calm", *block, "done"]
    found = excerpts(lines)

    assert final_exception(lines) == (message, line + 1)
    assert found[0].kind == "traceback"
    assert found[0].line == 2
    assert message in found[0].text
    assert "\x1b" not in found[0].text
    assert [item for item in found if item.kind != "warning"] == [found[0]]


def test_a_long_traceback_keeps_its_header_and_innermost_frames() -> None:
    frames = [text for i in range(200) for text in (f'  File "f{i}.py", line {i}, in f', "    f()")]
    (found,) = excerpts([SIMPLE[0], *frames, SIMPLE[-1]])
    shown = found.text.split("\n")

    assert shown[0] == SIMPLE[0]
    assert shown[1] == "  [362 lines left out]"
    assert shown[-1] == SIMPLE[-1]
    assert len(shown) == 41


def test_what_ended_the_run_comes_first_then_errors_then_warnings() -> None:
    lines = ["UserWarning: slow", "[ERROR] disk", "calm", *CHAINED, "wandb: done", "[ERROR] cleanup"]
    found = excerpts(lines)

    assert [item.kind for item in found] == ["traceback", "error", "error", "warning"]
    assert [item.line for item in found] == [4, 2, len(lines), 1]


def test_alarms_that_differ_only_in_numbers_are_counted() -> None:
    lines = [f"[WARNING] OBSERVATION TOO LONG, {i} & 500" for i in range(500, 610)]

    (found,) = excerpts(lines)
    assert found.text == "[WARNING] OBSERVATION TOO LONG, 500 & 500 (seen 110 times)"
    assert found.line == 1


def test_tracebacks_of_several_ranks_are_counted() -> None:
    lines = [f"[rank{rank}]: {text}" for rank in range(4) for text in SIMPLE]

    (found,) = excerpts(lines)
    assert found.text.endswith("(seen 4 times)")


def test_no_more_than_the_limit_is_shown() -> None:
    lines = [f"[ERROR] trouble of kind {chr(97 + i) * 3}" for i in range(26)]

    assert len(excerpts(lines, limit=5)) == 5
    assert excerpts(lines, limit=0) == ()


def test_a_failed_worker_is_named_rather_than_the_launcher_that_reports_it() -> None:
    launcher = [*SIMPLE[:3], "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ", "====", "FAILED"]

    assert final_exception([*SIMPLE, *launcher]) == (SIMPLE[-1], 7)
    assert final_exception(launcher) is not None


def test_an_exception_of_a_destructor_does_not_hide_the_real_one() -> None:
    teardown = ["Exception ignored in: <function Env.__del__ at 0x7f>", *SIMPLE[:3], "AttributeError: 'x'"]

    assert final_exception([*SIMPLE, *teardown]) == (SIMPLE[-1], 7)


def test_a_signal_after_a_traceback_is_what_ended_the_run() -> None:
    assert final_exception([*SIMPLE, "Killed"]) == ("Killed", 8)
    assert final_exception(["Killed", *SIMPLE]) == (SIMPLE[-1], 8)
    missing = "python: can't open file 'train.py': [Errno 2] No such file or directory"
    assert final_exception([missing]) == (missing, 1)


def test_an_exception_that_the_run_survived_is_not_final() -> None:
    training = [f"step:{i} - reward:1.0" for i in range(500)]
    summary = [f"wandb: metric_{i} 0.5" for i in range(500)]

    assert final_exception([*SIMPLE, *training]) is None
    assert excerpts([*SIMPLE, *training])[0].kind == "traceback"
    assert final_exception([*SIMPLE, *summary]) == (SIMPLE[-1], 7)


def test_an_exception_that_the_run_went_on_after_many_times_is_not_final() -> None:
    steps = [f"step:{i} - reward:1.0" for i in range(10)]

    assert final_exception([*SIMPLE, *steps] * 250 + SIMPLE) is None
    assert excerpts([*SIMPLE, *steps] * 250 + SIMPLE)[0].kind == "traceback"
    assert final_exception([*steps, *SIMPLE * 8]) is not None
    assert final_exception([*steps, *SIMPLE, *steps, *SIMPLE]) is not None


def test_a_log_that_begins_inside_a_traceback_still_names_its_exception() -> None:
    assert final_exception(SIMPLE[2:]) == (SIMPLE[-1], 5)


def test_a_torn_traceback_ended_the_run_where_its_last_frame_is() -> None:
    assert final_exception(SIMPLE[:-1]) == ('File "train.py", line 2, in main', 5)
    assert excerpts(SIMPLE[:-1]) == ()
    assert final_exception([*SIMPLE[:-1], "Episode 7 reward 20"]) is None


def test_excerpts_and_final_exceptions_hold_no_secrets() -> None:
    secret = "hunter2" * 3
    message = f"ValueError: cannot log in with password={secret}"
    lines = [*SIMPLE[:-1], message, f"[ERROR] login failed: password: {secret}"]

    assert secret not in str(excerpts(lines))
    assert final_exception(lines) == ("ValueError: cannot log in with password=[redacted]", 7)


@pytest.mark.parametrize(
    "unit",
    ["Traceback (most recent call last):", '  File "a", line 1', "Error", "a: line 1: ", "(", "(a(b) ", "pid=", "\x1b[",
     "\x1b]", "\r", "\r{'", "Warning: ", "A.", "[rank0]: ", "slurmstepd: error: ", "W0101 00:00:00", "_", "ERROR"],
)  # fmt: skip
def test_hostile_lines_take_linear_time(unit: str) -> None:
    def work(size: int) -> None:
        for text in (unit * (size // len(unit)), (unit + "\n") * (size // 3 // len(unit))):
            lines = clean_lines(text.encode())
            excerpts(lines)
            final_exception(lines)

    assert grows_linearly(work, 300_000)


_LINES = st.lists(
    st.sampled_from(
        [*SIMPLE, *CHAINED[3:7], *RAY, *IPYTHON, *ALARMS, *FALSE_ALARMS, "", " ", "\x1b[0m", "(W pid=1) ", "[rank0]: x"]
    ),
    max_size=30,
)


@settings(derandomize=True, max_examples=300)
@given(_LINES)
def test_any_order_of_lines_gives_excerpts_of_those_lines(lines: list[str]) -> None:
    found = excerpts(lines)
    final = final_exception(lines)

    assert all(1 <= item.line <= len(lines) for item in found)
    assert len(found) <= 40
    assert final is None or 1 <= final[1] <= len(lines)


@settings(derandomize=True, max_examples=300)
@given(st.binary(max_size=300))
def test_any_bytes_become_lines(data: bytes) -> None:
    lines = clean_lines(data)
    excerpts(lines)
    final_exception(lines)

    assert all("\n" not in line and "\0" not in line for line in lines)

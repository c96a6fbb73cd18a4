"""The lines Stable-Baselines3's evaluation prints, with more digits than its box and also without one.

Eval num_timesteps=10000, episode_reward=187.40 +/- 21.53
Episode length: 187.40 +/- 21.53
Success rate: 50.00%
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rlclinic.readers.consoles.rows import ConsoleRow

_NUMBER = r"([-+]?(?:\d+(?:\.\d*)?|nan|inf))"
_EVAL = re.compile(rf"Eval num_timesteps=(\d{{1,15}}), episode_reward={_NUMBER} \+/- {_NUMBER}")
_LENGTH = re.compile(rf"Episode length: {_NUMBER} \+/- {_NUMBER}")
_SUCCESS = re.compile(rf"Success rate: {_NUMBER}%")


def read_eval_lines(lines: Sequence[str]) -> list[ConsoleRow]:
    """One row per evaluation, with the names the box gives to the same numbers."""
    rows: list[ConsoleRow] = []
    since = 0
    for number, line in enumerate(lines, start=1):
        start = line.find("Eval num_timesteps=")
        found = _EVAL.match(line, start) if start >= 0 else None
        if found:
            step, mean, spread = found.groups()
            rows.append(
                ConsoleRow(int(step), number, {"eval/mean_reward": float(mean), "eval/std_reward": float(spread)})
            )
            since = number
        elif rows and number - since <= 2:
            _read_rest(line, rows[-1])
    return rows


def _read_rest(line: str, row: ConsoleRow) -> None:
    length = _LENGTH.match(line)
    success = _SUCCESS.match(line)
    if length:
        row.values["eval/mean_ep_length"] = float(length.group(1))
    elif success:
        row.values["eval/success_rate"] = float(success.group(1)) / 100.0

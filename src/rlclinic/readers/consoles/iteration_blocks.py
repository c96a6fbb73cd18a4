"""The console of rsl_rl, legged_gym and Isaac Lab: a centred headline, then right-aligned names.

################################################################################
                        Learning iteration 12/1500

                       Computation: 45211 steps/s (collection: 1.912s, learning 0.262s)
               Value function loss: 0.0213
                       Mean reward: 4.31
--------------------------------------------------------------------------------
                   Total timesteps: 1277952
                               ETA: 3210.4s
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rlclinic.readers.consoles.rows import ConsoleRow, ConsoleRows, console_rows, decimals_by_key

# Names of which a block must show one.
OWN_NAMES = frozenset(
    [
        "Mean reward",
        "Mean episode length",
        "Value function loss",
        "Surrogate loss",
        "Computation",
        "Total timesteps",
    ]
)

# Longest block, in lines; one with a line per reward term prints about sixty.
MAX_BLOCK_LINES = 300

# Above this a printed count is not one.
MAX_TIMESTEPS = 1e15

# Least width of the column of names, in characters, without the colon and the blank behind it.
NAME_COLUMN = 33

TIMESTEPS = "Total timesteps"
ITERATION = "Learning iteration"

_HEADLINE = re.compile(r"\s*Learning iteration (\d{1,12})(?:/\d{1,12})?(?: .{0,40})?\s*")
_VALUE = re.compile(
    r"(\s*)([A-Za-z][^:]{0,120}):\s{1,80}([-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf))"
    r"(?:s| steps/s)?(?: \(.{0,80}\))?\s*"
)


def parse_iteration_blocks(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """The rows of an rsl_rl console; empty if there are none."""
    rows: list[ConsoleRow] = []
    left = 0
    for number, line in enumerate(lines, start=1):
        if ITERATION in line:
            headline = _HEADLINE.fullmatch(line)
            if headline:
                iteration = int(headline.group(1))
                rows.append(ConsoleRow(iteration, number, {ITERATION: float(iteration)}))
                left = MAX_BLOCK_LINES
            continue
        if left == 0:
            continue
        left -= 1
        match = _VALUE.fullmatch(line) if ":" in line else None
        # Names are set flush right in a column; only one too long for it begins at the margin.
        if match and (len(match.group(1)) > 1 or len(match.group(2)) >= NAME_COLUMN):
            _, name, digits = match.groups()
            rows[-1].values[name] = float(digits)
            rows[-1].printed[name] = digits
            left = 0 if name == "ETA" else left
    rows = [row for row in rows if OWN_NAMES & row.values.keys()]
    if not rows:
        return ()
    counted = [row for row in rows if 0 <= row.values.get(TIMESTEPS, -1) < MAX_TIMESTEPS]
    if len(counted) < max(1, len(rows) - 1):  # only the last block may be torn
        return (console_rows("rsl_rl-console", "updates", rows, decimals=decimals_by_key(rows)),)
    torn = [f"line {row.line}: block without a step count dropped" for row in rows if row not in counted]
    placed = [ConsoleRow(int(row.values[TIMESTEPS]), row.line, row.values, row.printed) for row in counted]
    return (console_rows("rsl_rl-console", "env_steps", placed, decimals=decimals_by_key(placed), problems=torn),)

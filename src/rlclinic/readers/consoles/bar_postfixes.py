"""Metrics behind OpenRLHF's progress bar, all that older versions print.

    Train epoch [1/1]: 100%|██| 8/8 [00:10<00:00, 2.5s/it, act_loss=0.1, reward=0.5, gen_len=200, kl=0.01]

The bar is redrawn in place: of each pass only its last state is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rlclinic.readers.consoles.rows import ConsoleRow, ConsoleRows, console_rows, read_number

# A name that only OpenRLHF's bar shows.
OWN_NAME = "act_loss"

_POSTFIX = re.compile(r"\d/\d{1,12} \[\d[^\]=]{0,60}, (\w+=[^\]]{1,1000})\]")


def parse_bar_postfixes(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """The rows behind the bar; none where the console prints whole lines of metrics as well."""
    rows: list[ConsoleRow] = []
    last = ""
    for number, line in enumerate(lines, start=1):
        if "✨ Global step" in line:
            return ()
        matches = list(_POSTFIX.finditer(line)) if OWN_NAME in line else []
        if matches:
            pairs = (part.partition("=") for part in matches[-1].group(1).split(", "))
            read = {name.strip(): read_number(value) for name, _, value in pairs}
            values = {name: value for name, value in read.items() if value is not None}
            if OWN_NAME in values and matches[-1].group(1) != last:
                rows.append(ConsoleRow(len(rows) + 1, number, values))
                last = matches[-1].group(1)
    return (console_rows("openrlhf", "rows", rows),) if rows else ()

"""The child process: one request per line, one answer per line."""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback


def main() -> None:
    """Answer until the parent closes the pipe."""
    # What the frameworks print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            parser = importlib.import_module(f"{__package__}.{request.pop('framework')}")
            answer = {"values": parser.load(**request)}
        except Exception:
            answer = {"error": traceback.format_exc(limit=-4)}
        print(json.dumps(answer, default=str), file=answers, flush=True)


if __name__ == "__main__":
    main()

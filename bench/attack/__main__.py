"""Attack rlclinic: `python -m bench.attack [NAME ...]`. The exit code is 1 where an attack had success."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from bench.attack import bombs, code, kills, machine, races, secrets
from bench.attack.command import Attack, FailedError, Options

RECORD = Path(__file__).with_name("record.json")
GROUPS = {"bombs": bombs, "code": code, "secrets": secrets, "races": races, "machine": machine, "kills": kills}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.attack", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"groups ({', '.join(GROUPS)}) or parts of names")
    parser.add_argument(
        "--kills", type=int, default=Options().kills, help="random moments of kill -9, all verbs together"
    )
    parser.add_argument("--races", type=int, default=Options().races, help="calls while a folder is swapped for a link")
    parser.add_argument("--record", action="store_true", help="write the verdicts to bench/attack/record.json")
    parser.add_argument("--seed", type=int, default=Options().seed)
    options = parser.parse_args()
    chosen = Options(options.kills, options.races, options.seed)
    attacks = [
        (f"{group}/{item.__name__}".replace("_", "-"), item)
        for group, module in GROUPS.items()
        for item in module.ATTACKS
    ]
    wanted = [
        pair
        for pair in attacks
        if not options.names
        or any(pair[0].startswith(f"{name}/") or (name not in GROUPS and name in pair[0]) for name in options.names)
    ]
    print(f"{len(wanted)} attacks, seed {chosen.seed}", flush=True)
    verdicts = {name: _attack(name, attack, chosen) for name, attack in wanted}
    failed = sum(word != "ok" for word, _ in verdicts.values())
    print(f"{len(wanted) - failed} of {len(wanted)} withstood")
    if options.record:
        known = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
        RECORD.write_text(json.dumps({**known, **verdicts}, indent=1) + "\n", encoding="utf-8")
    return int(failed > 0 or not wanted)


def _attack(name: str, attack: Attack, options: Options) -> tuple[str, str]:
    place, began = Path(tempfile.mkdtemp(prefix="rlclinic-attack-")), time.monotonic()
    try:
        word, detail = "ok", attack(place, options)
    except FailedError as error:
        word, detail = "FAILED", str(error)
    except Exception as error:
        word, detail = (
            "FAILED",
            f"the attack itself: {error!r} at {traceback.extract_tb(error.__traceback__)[-1].lineno}",
        )
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print(f"{word:7}{name:46} {time.monotonic() - began:6.1f} s  {detail}", flush=True)
    return word, detail


if __name__ == "__main__":
    sys.exit(main())

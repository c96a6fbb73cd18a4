"""A user's own training script, as small as one can be: a bandit that climbs at the speed of its learning rate.

`python trainer.py --lr 0.1 --seed 3 --steps 200 --logdir DIR` writes DIR/progress.csv. `--die` ends it in mid-run.
"""

import argparse
import csv
import os
import random
import signal
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, required=True)
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--steps", type=int, required=True)
parser.add_argument("--logdir", type=Path, required=True)
parser.add_argument("--die", default="")
arguments = parser.parse_args()

random.seed(arguments.seed)
skill = 0.0
with open(arguments.logdir / "progress.csv", "w", newline="", encoding="utf-8") as file:
    table = csv.writer(file)
    table.writerow(["time/total_timesteps", "rollout/ep_rew_mean", "train/learning_rate"])
    for step in range(0, arguments.steps + 1, max(arguments.steps // 20, 1)):
        table.writerow([step, 100 * skill + random.gauss(0, 1), arguments.lr])
        skill += arguments.lr * (1 - skill)
        if arguments.die == str(arguments.seed) and step > arguments.steps / 2:
            file.flush()
            os.kill(os.getppid(), signal.SIGKILL)
            raise SystemExit(3)

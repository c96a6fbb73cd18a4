"""The readers: by which files a folder is recognised as a run of theirs, and whose subfolders it owns.

Adding a reader is one file in `sources/` and one row here. Rows are tried in order.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from importlib import import_module
from typing import TYPE_CHECKING

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.tree import Folder

if TYPE_CHECKING:
    from rlclinic.readers.draft import Draft

EVENTS = "*tfevents*"
OBSERVED = "observed*.npz"
JSON_TABLES = ("*_log.json", "log.json", "*history*.json", "summary.json")
"""Files that may hold metrics as one JSON object; a look into them decides."""
HOME_MADE = ("*.npz", "*.npy", "*.json")
"""Files of lists that home-made scripts save; a look into them decides."""
TEXTS = ("*.log", "*.out", "*.txt", "*.dat", "*.ipynb", "*.md", "*log", "*rewards", "*returns", "*scores", "stdout*")
"""Consoles, and texts of numbers; a look into them decides."""
ACME = ("actor", "learner", "evaluator", "environment_loop", "train_loop", "eval_loop")
"""Parts of an Acme run, each of which logs into a folder of its own."""


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One reader."""

    id: str
    module: str
    marks: tuple[tuple[str, ...], ...]
    """Lines of file patterns relative to the folder (`x/` for a subfolder); one line must hold whole."""
    owns_subfolders: bool = True
    """Whether everything below the folder belongs to the run."""

    def claims(self, folder: Folder) -> bool:
        """Whether a folder is a run of this kind."""
        return any(all(folder.has(pattern) for pattern in line) for line in self.marks)

    def has(self, name: str) -> bool:
        """Whether a file of this name may be by which a folder is recognised."""
        return any(fnmatchcase(name, pattern) for line in self.marks for pattern in line)

    @property
    def read(self) -> Callable[[Draft], None]:
        """The reader's function; its module is imported when it is first needed."""
        function: Callable[[Draft], None] = import_module(f"rlclinic.readers.sources.{self.module}").read
        return function


SOURCES: tuple[SourceSpec, ...] = (
    SourceSpec("wandb", "wandb", (("run-*.wandb",), ("@run-*_*-*", "files/"), ("@offline-run-*_*-*", "files/"))),
    SourceSpec("mlflow", "mlflow", (("meta.yaml", "params/"), ("meta.yaml", "metrics/"), ("meta.yaml", "tags/"))),
    SourceSpec(
        "sacred",
        "sacred",
        (("run.json", "info.json"), ("run.json", "metrics.json"), ("run.json", "config.json"), ("cout.txt",)),
    ),
    SourceSpec(
        "gymnasium-solver",
        "gymnasium_solver",
        (("config.json", "metrics.csv"), ("config.json", "run.log"), ("status.json", "metrics.csv")),
    ),
    SourceSpec("rl-zoo", "rl_zoo", (("*/args.yml", "*/config.yml"),)),
    SourceSpec(
        "mlagents",
        "mlagents",
        (
            ("configuration.yaml", "run_logs/"),
            ("configuration.yaml", f"*/{EVENTS}"),
            ("run_logs/timers.json",),
            ("run_logs/training_status.json",),
        ),
    ),
    SourceSpec("sample-factory", "sample_factory", (("config.json", ".summary/"), ("cfg.json", ".summary/"))),
    SourceSpec("d3rlpy", "d3rlpy", (("params.json", "loss.csv"), ("params.json", "time_step.csv"), ("*.d3", "*.csv"))),
    SourceSpec("rllib", "rllib", (("result.json",), ("params.json", "progress.csv"), ("params.json", EVENTS))),
    SourceSpec("torchrl", "torchrl_csv", (("scalars/",),)),
    SourceSpec("hf-trainer", "hf_trainer", (("trainer_state.json",), ("checkpoint-*/trainer_state.json",))),
    SourceSpec("hydra", "hydra", ((".hydra/config.yaml",), ("hydra/config.yaml", "hydra/overrides.yaml"))),
    SourceSpec("isaac-lab", "files", (("params/agent.yaml",),)),
    SourceSpec("acme", "files", tuple((f"{part}/logs.csv",) for part in ACME)),
    # tensorboardX writes one folder of events for each metric; summary.json follows only where a run came to its end.
    SourceSpec(
        "mappo",
        "files",
        tuple(
            ("@logs", f"{tag}/{EVENTS}") for tag in ("average_episode_rewards/*", "value_loss/*", "agent0/*/agent0/*")
        ),
    ),
    SourceSpec("rl_games", "files", ((f"summaries/{EVENTS}",),)),
    SourceSpec(
        "sb3",
        "files",
        (("progress.csv",), ("*monitor.csv",), ("evaluations.npz",), ("progress.txt",), ("progress.json",)),
        owns_subfolders=False,
    ),
    SourceSpec("tensorboard", "files", ((EVENTS,),), owns_subfolders=False),
    SourceSpec("trackio", "trackio", (("*.db",),), owns_subfolders=False),
    SourceSpec("tables", "files", (("*.csv",), ("*.tsv",), ("*.jsonl",)), owns_subfolders=False),
    SourceSpec("json-tables", "json_tables", tuple((name,) for name in JSON_TABLES), owns_subfolders=False),
    SourceSpec("console", "files", tuple((name,) for name in TEXTS), owns_subfolders=False),
    SourceSpec("home-made", "home_made", tuple((name,) for name in HOME_MADE), owns_subfolders=False),
    # What Observe wrote of a training that kept nothing else.
    SourceSpec("observed", "files", ((OBSERVED,),), owns_subfolders=False),
)


def source_of(reader_id: str) -> SourceSpec:
    """The row of a reader."""
    return next(row for row in SOURCES if row.id == reader_id)

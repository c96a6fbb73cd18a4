"""rlclinic: find out why a reinforcement-learning run is not learning.

    import rlclinic

    run = rlclinic.read("runs/@last")
    rlclinic.diagnose(run).verdict

Names are imported when they are first used, so that `import rlclinic` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rlclinic.advisor.advise import advise
    from rlclinic.comparison.compare import compare
    from rlclinic.comparison.history import history
    from rlclinic.engine import diagnose, why
    from rlclinic.facts.metric_summary import hyperparameter_history, metric_correlation, metric_summary, metric_trend
    from rlclinic.live.monitor import Monitor, monitor
    from rlclinic.model.advice import Advice
    from rlclinic.model.config import Config, Origin, Setting
    from rlclinic.model.diagnosis import Cause, Diagnosis, Verdict
    from rlclinic.model.errors import NothingReadable, RlclinicError, RunReadError, UsageError
    from rlclinic.model.explanation import Explanation, Piece
    from rlclinic.model.finding import Evidence, Finding, NotChecked, Severity
    from rlclinic.model.run import Run, RunStatus, Status
    from rlclinic.model.series import Series
    from rlclinic.readers.open import read_files
    from rlclinic.store.listing import list_runs
    from rlclinic.store.reading import read

_HOMES = {
    "Cause": "rlclinic.model.diagnosis",
    "Config": "rlclinic.model.config",
    "Diagnosis": "rlclinic.model.diagnosis",
    "Evidence": "rlclinic.model.finding",
    "Finding": "rlclinic.model.finding",
    "NotChecked": "rlclinic.model.finding",
    "Severity": "rlclinic.model.finding",
    "Verdict": "rlclinic.model.diagnosis",
    "Advice": "rlclinic.model.advice",
    "advise": "rlclinic.advisor.advise",
    "compare": "rlclinic.comparison.compare",
    "diagnose": "rlclinic.engine",
    "why": "rlclinic.engine",
    "Explanation": "rlclinic.model.explanation",
    "Piece": "rlclinic.model.explanation",
    "history": "rlclinic.comparison.history",
    "Origin": "rlclinic.model.config",
    "Setting": "rlclinic.model.config",
    "NothingReadable": "rlclinic.model.errors",
    "RlclinicError": "rlclinic.model.errors",
    "RunReadError": "rlclinic.model.errors",
    "UsageError": "rlclinic.model.errors",
    "Run": "rlclinic.model.run",
    "RunStatus": "rlclinic.model.run",
    "Status": "rlclinic.model.run",
    "Series": "rlclinic.model.series",
    "hyperparameter_history": "rlclinic.facts.metric_summary",
    "list_runs": "rlclinic.store.listing",
    "metric_correlation": "rlclinic.facts.metric_summary",
    "metric_summary": "rlclinic.facts.metric_summary",
    "metric_trend": "rlclinic.facts.metric_summary",
    "Monitor": "rlclinic.live.monitor",
    "monitor": "rlclinic.live.monitor",
    "read": "rlclinic.store.reading",
    "read_files": "rlclinic.readers.open",
}

__all__ = [
    "Advice",
    "Cause",
    "Config",
    "Diagnosis",
    "Evidence",
    "Explanation",
    "Finding",
    "Monitor",
    "NotChecked",
    "NothingReadable",
    "Origin",
    "Piece",
    "RlclinicError",
    "Run",
    "RunReadError",
    "RunStatus",
    "Series",
    "Setting",
    "Severity",
    "Status",
    "UsageError",
    "Verdict",
    "__version__",
    "advise",
    "compare",
    "diagnose",
    "history",
    "hyperparameter_history",
    "list_runs",
    "metric_correlation",
    "metric_summary",
    "metric_trend",
    "monitor",
    "read",
    "read_files",
    "why",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'rlclinic' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__

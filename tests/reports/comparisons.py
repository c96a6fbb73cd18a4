"""A comparison and a history made by hand, for the tests of their reports."""

from __future__ import annotations

import numpy as np

from rlclinic.model.comparison import (
    Comparison,
    FirstMove,
    Parting,
    RunOutcome,
    SeedGroup,
    SettingDifference,
)
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.history import Aim, Attempt, History, PastConfig, Separation, Suggestion
from rlclinic.model.prescription import Basis, Change
from rlclinic.model.run import Run, RunStatus, Status
from rlclinic.model.series import Series

STEPS = np.linspace(1_000.0, 50_000.0, 50)


def _run(name: str, end: float, environment: str = "CartPole-v1", state: Status = Status.FINISHED) -> Run:
    returns = Series("return/train", "rollout/ep_rew_mean", STEPS, np.linspace(20.0, end, 50), known=True)
    loss = Series("approx_kl", "train/approx_kl", STEPS, np.linspace(0.01, end / 1_000, 50), known=True)
    return Run(
        id=name,
        path=f"runs/{name}",
        framework="sb3",
        algorithm="PPO",
        environment=environment,
        status=RunStatus(state),
        steps=50_000.0,
        series={"return/train": returns, "approx_kl": loss},
    )


def comparison(name: str = "slow", environment: str = "CartPole-v1") -> Comparison:
    """Two seeds of a good config, one bad run, and the best of the history."""
    good = RunOutcome(
        _run("good-1", 480.0), "good-1", Verdict.SOLVED, "nothing-wrong", 0.84, 478.0, 470.0, 486.0, 480.0
    )
    more = RunOutcome(
        _run("good-2", 470.0),
        "good-2",
        Verdict.LEARNING,
        "nothing-wrong",
        0.7,
        final=468.0,
        final_low=460.0,
        final_high=476.0,
        best=470.0,
        best_step=50_000.0,
        area=245.0,
        threshold=475.0,
        seconds=7_300.0,
    )
    bad = RunOutcome(
        _run(name, 40.0, environment, Status.RUNNING),
        name,
        Verdict.NOT_LEARNING,
        "learning-rate-too-low",
        0.62,
        final=39.0,
        best=40.0,
        area=30.0,
        threshold=475.0,
        seconds=95.0,
    )
    best = RunOutcome(
        _run("champion", 500.0),
        "champion",
        Verdict.SOLVED,
        "nothing-wrong",
        0.9,
        final=500.0,
        best=500.0,
        area=300.0,
        threshold=475.0,
        steps_to_threshold=31_000.0,
        reference=True,
    )
    return Comparison(
        outcomes=(good, more, bad, best),
        environments=(environment,),
        groups=(SeedGroup("good-1 (2 seeds)", ("good-1", "good-2"), 473.0, 468.0, 478.0, 247.0, 1),),
        differences=(
            SettingDifference(
                "learning_rate", "learning rate", (3e-4, 3e-4, 1e-6, 1e-3), 4.25, (False, False, False, True)
            ),
            SettingDifference("activation", "activation", ("tanh", "tanh", name, None), None),
        ),
        apart=(SettingDifference("seed", "random seed", (1, 2, 1, 7), None),),
        partings=(
            Parting(
                "good-1 (2 seeds)",
                name,
                9_000.0,
                difference=310.5,
                noise=21.3,
                moves=(
                    FirstMove("clip_fraction", "train/clip_fraction", 1_000.0, True, 0.11),
                    FirstMove("approx_kl", "train/approx_kl", 4_000.0, False, 0.0123, 0.97),
                ),
            ),
            Parting("good-1 (2 seeds)", "champion", None, noise=18.0),
            Parting(name, "champion", 12_000.0, 40_000.0, difference=-200.0, noise=20.0),
            Parting(name, "silent", None, reason="a run has no return"),
        ),
        winner="good-1 (2 seeds)",
        summary="good-1 (2 seeds) ended highest, at 473.",
        notes=(f"{name} is still running: its numbers are progress so far, not a result.",),
    )


def history(name: str = "good-1") -> History:
    """A history with a sure pattern, a confounded one and something to try under every heading."""
    best = PastConfig(
        f"{name} (2 seeds)",
        ("runs/good-1", "runs/good-2"),
        "sb3",
        "PPO",
        50_000.0,
        473.0,
        468.0,
        478.0,
        247.0,
        31_000.0,
        0.05,
        1_250.0,
        40.0,
        {"learning_rate": 3e-4, "n_envs": 4, "activation": name},
    )
    change = Change("learning_rate", "learning_rate", 3e-4, 1e-4)
    return History(
        root="runs",
        environment="CartPole-v1",
        algorithm="PPO",
        runs=14,
        configs=9,
        enough=True,
        best=(best,),
        separations=(
            Separation(
                "learning_rate", "learning rate", "at most 0.001", "at least 0.01", 5, 4, 0.95, 0.6, 1.0, 310.0, 0.004
            ),
            Separation("gamma", "discount", "0.99", "0.9", 4, 5, 0.6, 0.1, 0.9, 120.0, 0.21, ("n_steps",)),
            Separation("ent_coef", "entropy bonus", "0", "0.01", 4, 5, 0.1, -0.5, 0.6, 2.0, 1.0),
        ),
        attempts=(Attempt("slow", (Change("gamma", "gamma", 0.99, None),), 39.0, -434.0, 1, 25_000.0),),
        suggestions=(
            Suggestion(
                Aim.CONVERGENCE, f"Try learning_rate 0.0001 instead of {name}.", Basis.GUESS, "untried", (change,)
            ),
            Suggestion(Aim.STABILITY, "Run the best config with one more seed.", Basis.MEASURED, "2 runs of it so far"),
            Suggestion(Aim.WALL_TIME, "Try 8 environments.", Basis.GUESS, "one number of environments only"),
        ),
        notes=("1 of 15 runs left out: still running, and progress is no result.",),
    )

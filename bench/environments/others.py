"""What other checkers say of an environment: Gymnasium's, Stable-Baselines3's and reward-scope."""

from __future__ import annotations

import multiprocessing
import tempfile
import warnings
from collections.abc import Callable, Sequence
from typing import Any

TOOLS = ("gymnasium", "sb3", "reward-scope")
SECONDS = 90.0
"""That the checkers may take for one case."""
STEPS = 4000
"""Of random actions, which reward-scope watches with its defaults."""
# Warnings of the checkers that are about style, not about the environment.
STYLE = ("recreated", "render", "spec", "metadata", "deprecat", "wrapped", "registered", "max_episode_steps")


def said_of(names: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """What they say of some cases, in a process of their own; of a case at which it hangs or dies, nothing more."""
    context = multiprocessing.get_context("spawn")
    found: dict[str, dict[str, list[str]]] = {}
    while missing := [name for name in names if name not in found]:
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, missing))
        process.start()
        theirs.close()
        try:
            while ours.poll(SECONDS):
                name, said = ours.recv()
                found[name] = said
        except EOFError:
            pass
        process.kill()
        process.join()
        lost = next((name for name in names if name not in found), None)
        if lost is not None:
            found[lost] = {tool: ["no answer"] for tool in TOOLS}
    return found


def _serve(pipe: Any, names: Sequence[str]) -> None:
    from bench.environments.cases import cases

    for name in names:
        pipe.send((name, said_by(cases()[name].make)))


def said_by(make: Callable[[], Any]) -> dict[str, list[str]]:
    """The complaints of each checker, errors and warnings alike, without those about style."""
    return {tool: _said(check, make) for tool, check in zip(TOOLS, (_gymnasium, _sb3, _reward_scope), strict=True)}


def _said(check: Callable[[Any], None], make: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            environment = make()
            check(environment)
            error = ""
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"[:160]
    told = [str(item.message)[:160] for item in caught] + ([error] if error else [])
    return [text for text in dict.fromkeys(told) if not any(word in text.lower() for word in STYLE)]


def _gymnasium(environment: Any) -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(environment, skip_render_check=True)


def _sb3(environment: Any) -> None:
    from stable_baselines3.common.env_checker import check_env

    check_env(environment, skip_render_check=True)


def _reward_scope(environment: Any) -> None:
    """It watches training; its alerts come as warnings here."""
    from reward_scope.integrations import RewardScopeWrapper

    alerts: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        watched = RewardScopeWrapper(
            environment,
            storage_dir=folder,
            auto_extract_prefix="reward_",
            on_alert=lambda alert: alerts.add(f"{alert.type.value}, {alert.alert_severity.value}"),
        )
        watched.reset(seed=0)
        watched.action_space.seed(0)
        for _ in range(STEPS):
            *_, terminated, truncated, _ = watched.step(watched.action_space.sample())
            if terminated or truncated:
                watched.reset()
        watched.close()
    for alert in sorted(alerts):
        warnings.warn(alert, stacklevel=2)

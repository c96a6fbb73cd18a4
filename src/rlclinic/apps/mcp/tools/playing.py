"""Play the policy of a run: its best, its median and its worst episode."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import UsageError

MOST_EPISODES = 50


class PlayedEpisode(Part):
    label: str
    """best, median or worst."""
    total: Number
    length: int
    ended: str
    """terminated or cut."""
    components: dict[str, Number]
    """Sums of the parts of the reward."""
    steps: list[dict[str, Any]]
    """Some steps with observation, action and reward; none where only the outcome was asked for."""


class Played(Reply):
    run_id: str
    episodes: int
    played: list[PlayedEpisode]
    untrusted: str = UNTRUSTED


def run_play(
    workspace: Workspace,
    run_id: str | None = None,
    config_id: str | None = None,
    episodes: int = 1,
    deterministic: bool = False,  # noqa: FBT001, FBT002
    headless: bool = True,  # noqa: FBT001, FBT002
    mode: str | None = None,
    seed: int | None = None,
    env_kwargs: dict[str, Any] | None = None,
    show_preprocessing: bool = False,  # noqa: FBT001, FBT002
    show_cnn_filters: bool = False,  # noqa: FBT001, FBT002
) -> Played:
    """Play the policy of a run that `rlclinic train` made, at least 10 episodes, and answer with the best, the median
    and the worst: return, length, end, parts of the reward, and a strip of pictures of each where the environment
    renders. No window is opened; the other arguments change nothing."""
    if config_id and not run_id:
        raise UsageError(f"{config_id} is a config: only the policy of a run is played", hint="name a run with run_id")
    return _played(workspace, run_id or "@last", max(10, min(episodes, MOST_EPISODES)), steps=False)


def run_inspect(
    workspace: Workspace,
    run_id: str = "@last",
    port: int = 7860,
    host: str = "localhost",
    share: bool = False,  # noqa: FBT001, FBT002
    seed: int | None = None,
    env_kwargs: dict[str, Any] | None = None,
) -> Played:
    """The same with some steps of each of the three episodes: what the policy saw, did and was paid. No window is
    opened; the other arguments change nothing."""
    return _played(workspace, run_id, 10, steps=True)


def _played(workspace: Workspace, name: str, episodes: int, *, steps: bool) -> Played:
    case = workspace.open(name)
    if case.run.framework != "rlclinic":
        raise UsageError(
            f"{case.run.id} was trained by {case.run.framework}: its policy is a pickle, which is not opened",
            hint="get_run_metrics with return/eval tells how well it does",
        )
    from rlclinic.environment.episodes import play_run

    found = play_run(Path(case.run.location), episodes)
    rows = [
        PlayedEpisode(
            label=one.label,
            total=one.total,
            length=one.length,
            ended="terminated" if one.terminated else "cut",
            components=plain_value(dict(one.components)),
            steps=plain_value([dict(item) for item in one.steps]) if steps else [],
        )
        for one in found
    ]
    told = ", ".join(f"{row.label} {row.total:.4g} in {row.length} steps" for row in rows)
    pictures = tuple(base64.b64decode(frame) for one in found for frame in one.frames)
    seen = "; a strip of pictures of each, in this order" if pictures else "; the environment renders no pictures"
    reply = Played(run_id=case.run.id, episodes=episodes, played=rows)
    return reply.said(f"{episodes} episodes: {told}{seen}.", pictures=pictures)

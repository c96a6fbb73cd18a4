"""Watch an environment while it is trained in, and keep a bounded sample of its steps beside the run.

One line around the environment: `env = Observe(env, "runs/mine")`. Nothing that passes through is changed; a step that
is not sampled costs about a microsecond.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from rlclinic.lab.instruments.flatten import flat
from rlclinic.lab.instruments.observed_file import write_observed
from rlclinic.lab.instruments.track import Sample, Track

WRITE_EVERY = 30.0
"""Seconds between two writings, looked at when an episode ends."""

_RECORDERS: dict[tuple[int, str], Recorder] = {}


class Recorder:
    """What all copies of an environment in one process report; writes itself into a folder."""

    def __init__(self, folder: str | Path, name: str = "observed.npz") -> None:
        self.path = Path(folder) / name
        self.tracks: list[Track] = []
        self.sample = Sample()
        self.components: dict[str, str] = {}
        """Where `info` tells the parts of the reward, if not as reward_NAME."""
        self.environment = ""
        self.spaces: Any = None
        self._written = time.monotonic()

    def track(self, environment: Any) -> Track:
        """The record of one more copy."""
        return self.track_of(environment.observation_space, environment.action_space, _id_of(environment))

    def track_of(self, observation_space: Any, action_space: Any, name: str) -> Track:
        """The same by its spaces."""
        if self.spaces is None:
            self.spaces = flat(observation_space), flat(action_space)
            self.environment = name
        track = Track(len(self.tracks), self.sample, self.components)
        self.tracks.append(track)
        return track

    def write_where_due(self) -> None:
        """Write if the last time is long ago."""
        if time.monotonic() - self._written > WRITE_EVERY:
            self.write()

    def write(self) -> None:
        """Write what is known so far; a folder that cannot be written to must not stop a training."""
        self._written = time.monotonic()
        if self.spaces is None or not any(track.steps for track in self.tracks):
            return
        try:
            write_observed(self.path, self)
        except OSError:
            return


class Observe(gymnasium.Wrapper):
    """Keeps a sample of the steps of a training environment in `FOLDER/observed-*.npz`, where `diagnose` finds it.

    `components` says where `info` tells the parts of the reward, by name, if not as reward_NAME.
    """

    def __init__(
        self,
        env: Any,
        folder: str | Path = ".",
        *,
        components: Mapping[str, str] | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        super().__init__(env)
        self._folder = str(folder)
        self._components = dict(components or {})
        self._recorder = recorder
        self._track: Track | None = None
        self._pid = 0
        self._step = env.step

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if self._pid != os.getpid():
            self._attach()
        found = self.env.reset(seed=seed, options=options)
        assert self._track is not None
        self._track.started(found[0])
        return found

    def step(self, action: Any) -> Any:
        found = self._step(action)
        track = self._track
        if track is not None:
            track.stepped(action, found)
            if found[2] or found[3]:
                assert self._recorder is not None
                self._recorder.write_where_due()
        return found

    def close(self) -> None:
        if self._recorder is not None and self._pid == os.getpid():
            self._recorder.write()
        self.env.close()

    def __getstate__(self) -> dict[str, Any]:
        # A copy in another process keeps its own record.
        return {**self.__dict__, "_recorder": None, "_track": None, "_pid": 0, "_step": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._step = self.env.step

    def _attach(self) -> None:
        """Begin a record in this process; a fork must not write into its parent's."""
        if self._recorder is None or self._pid:
            self._recorder = recorder_of(self._folder)
        self._pid = os.getpid()
        self._recorder.components |= self._components
        self._track = self._recorder.track(self.env)


class ObserveVector(gymnasium.vector.VectorWrapper):
    """The same for a Gymnasium vector environment."""

    def __init__(self, env: Any, folder: str | Path = ".") -> None:
        super().__init__(env)
        recorder = self._recorder = recorder_of(str(folder))
        spaces = env.single_observation_space, env.single_action_space
        self._tracks = [recorder.track_of(*spaces, _id_of(env)) for _ in range(env.num_envs)]
        self._over = np.zeros(env.num_envs, dtype=bool)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        found = self.env.reset(seed=seed, options=options)
        for track, observation in zip(self._tracks, _rows(found[0]), strict=False):
            track.started(observation)
        return found

    def step(self, actions: Any) -> Any:
        found = observations, rewards, terminated, truncated, infos = self.env.step(actions)
        final, rows = infos.get("final_obs"), list(_rows(observations))
        for at, track in enumerate(self._tracks):
            if self._over[at]:
                # The step after an end only resets.
                track.started(rows[at])
                self._over[at] = False
                continue
            over = bool(terminated[at] or truncated[at])
            last = final[at] if over and final is not None and final[at] is not None else rows[at]
            track.stepped(actions[at], (last, float(rewards[at]), bool(terminated[at]), bool(truncated[at]), {}))
            if over and final is not None:
                track.started(rows[at])
            else:
                self._over[at] = over
        self._recorder.write_where_due()
        return found

    def close(self, **arguments: Any) -> Any:
        self._recorder.write()
        return self.env.close(**arguments)


def recorder_of(folder: str) -> Recorder:
    """The recorder of this process for a folder."""
    key = os.getpid(), str(Path(folder).absolute())
    if key not in _RECORDERS:
        recorder = Recorder(folder, f"observed-{key[0]}.npz")
        _RECORDERS[key] = recorder
        atexit.register(recorder.write)
    return _RECORDERS[key]


def _rows(observations: Any) -> Any:
    if isinstance(observations, dict):
        count = len(next(iter(observations.values())))
        return ({key: value[at] for key, value in observations.items()} for at in range(count))
    return iter(observations)


def _id_of(environment: Any) -> str:
    spec = getattr(environment, "spec", None)
    return str(getattr(spec, "id", "") or type(getattr(environment, "unwrapped", environment)).__name__)

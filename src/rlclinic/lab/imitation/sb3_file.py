"""The policy of a Stable-Baselines3 checkpoint as plain matrices: only tensors are read, the pickles stay closed.

Fully connected policies of PPO, A2C, TRPO, DQN, SAC, TQC, TD3 and DDPG are rebuilt from the names and shapes of their
weights. The activation is not among them: tanh for on-policy and ReLU for off-policy algorithms, as SB3 has it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rlclinic.lab.checkpoints import refuse_compressed
from rlclinic.lab.torchrl.spaces import Spaces
from rlclinic.model.errors import UsageError
from rlclinic.readers.formats.archive import read_members
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.no_links import open_file, real

Floats = NDArray[np.float64]
Activation = Callable[[Floats], Floats]
WEIGHTS = "policy.pth"
MOST_BYTES = 1 << 28


def _relu(values: Floats) -> Floats:
    return np.maximum(values, 0.0)


# Names of the layers in their order, the activation between them, and whether the output is squashed into [-1, 1].
_STACKS = (
    (re.compile(r"mlp_extractor\.policy_net\.\d+|action_net"), np.tanh, False),
    (re.compile(r"q_net\.q_net\.\d+"), _relu, False),
    (re.compile(r"actor\.latent_pi\.\d+|actor\.mu"), _relu, True),
    (re.compile(r"actor\.mu\.\d+"), _relu, True),
)


def policy_of_file(path: Path, spaces: Spaces) -> Callable[[Any], Any]:
    """The deterministic policy of a checkpoint, as a function of one observation."""
    weights = _weights(path)
    names = list(dict.fromkeys(key.rpartition(".")[0] for key in weights))
    for pattern, activation, squashed in _STACKS:
        layers = [
            name
            for name in names
            if pattern.fullmatch(name)
            and f"{name}.bias" in weights
            and getattr(weights.get(f"{name}.weight"), "ndim", 0) == 2
        ]
        if layers:
            pairs = [(weights[f"{name}.weight"], weights[f"{name}.bias"]) for name in layers]
            return lambda observation: _act(pairs, activation, spaces, observation, squashed=squashed)
    raise UsageError(
        "holds no fully connected policy that can be read without unpickling",
        path=str(path),
        hint="wrap it in a function instead: --expert module:function",
    )


def _act(pairs: Any, activation: Activation, spaces: Spaces, observation: Any, *, squashed: bool) -> Any:
    values = spaces.encode([observation])[0].astype(np.float64)
    if values.size != pairs[0][0].shape[1]:
        raise UsageError(
            f"the checkpoint takes {pairs[0][0].shape[1]} numbers, the observation has {values.size}",
            hint="check that the expert belongs to this environment",
        )
    for weight, bias in pairs[:-1]:
        values = activation(weight @ values + bias)
    values = pairs[-1][0] @ values + pairs[-1][1]
    if spaces.is_discrete:
        return int(values.argmax()) + spaces.first_action
    return spaces.to_environment((spaces.from_unit(np.tanh(values)) if squashed else values)[None])[0]


def _weights(path: Path) -> Mapping[str, Floats]:
    try:
        with open_file(real(path)) as file:
            data = read_members(file, (WEIGHTS,), MOST_BYTES)[WEIGHTS]
        refuse_compressed(io.BytesIO(data))
        found = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
        tensors = {str(key): value for key, value in found.items() if value.layout is torch.strided}
        # A tensor may say that its one number is a million.
        if 8 * sum(value.numel() for value in tensors.values()) > MOST_BYTES:
            raise FormatError(f"its numbers take more than {MOST_BYTES >> 20} MB")
        return {key: value.double().numpy() for key, value in tensors.items()}
    except Exception as error:  # zipfile, torch and the content raise a dozen kinds
        told = (
            str(error) if isinstance(error, FormatError) else f"damaged, or not tensors alone ({type(error).__name__})"
        )
        raise UsageError(f"is no checkpoint of Stable-Baselines3: {told}", path=str(path)) from error

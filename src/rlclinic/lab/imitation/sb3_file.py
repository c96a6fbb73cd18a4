"""The policy of a Stable-Baselines3 checkpoint as plain matrices: only tensors are read, the pickles stay closed.

Policies of PPO, A2C, TRPO, DQN, SAC, TQC, TD3 and DDPG are rebuilt from the names and shapes of their weights: fully
connected ones, and those of SB3's own network for images. The activation is not among the weights: it is the one that
the checkpoint's description names, else tanh for on-policy and ReLU for off-policy algorithms, as SB3 has it.
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
WEIGHTS, ABOUT = "policy.pth", "data"
MOST_BYTES = 1 << 28
MOST_TEXT = 1 << 26
STATISTICS = ("vecnormalize.pkl", "vec_normalize.pkl", "*/vecnormalize.pkl")
"""Beside a checkpoint: what its observations were divided by."""
FUNCTION = "wrap it in a function instead: module:function"


def _relu(values: Floats) -> Floats:
    return np.maximum(values, 0.0)


_ACTIVATIONS: Mapping[str, Activation] = {
    "Tanh": np.tanh,
    "ReLU": _relu,
    "ELU": lambda values: np.where(values > 0.0, values, np.expm1(np.minimum(values, 0.0))),
    "LeakyReLU": lambda values: np.where(values > 0.0, values, 0.01 * values),
}
_ACTIVATION = re.compile(r"\"activation_fn\": \"<class 'torch\.nn\.modules\.activation\.(\w+)'>\"")
_IMAGES = re.compile(r"((?:[a-z_]+\.)?features_extractor)\.cnn\.0\.weight")
_STRIDES, _KERNELS = (4, 2, 1), (8, 4, 3)

# Names of the layers in their order, the activation between them, and whether the output is squashed into [-1, 1].
_STACKS = (
    (re.compile(r"mlp_extractor\.policy_net\.\d+|action_net"), np.tanh, False),
    (re.compile(r"q_net\.q_net\.\d+"), _relu, False),
    (re.compile(r"actor\.latent_pi\.\d+|actor\.mu"), _relu, True),
    (re.compile(r"actor\.mu\.\d+"), _relu, True),
)


def policy_of_file(path: Path, spaces: Spaces) -> Callable[[Any], Any]:
    """The deterministic policy of a checkpoint, as a function of one observation."""
    weights, told = _read(path)
    statistics = next((found for name in STATISTICS for found in path.parent.glob(name)), None)
    if statistics is not None:
        raise UsageError(
            f"{statistics.name} beside it holds what observations were divided by, in a pickle, which is not read",
            path=str(path),
            hint=FUNCTION,
        )
    names = list(dict.fromkeys(key.rpartition(".")[0] for key in weights))
    images = _images(weights)
    if any("lstm" in name for name in names) or (
        images is None and any(".cnn." in name or "extractor.linear" in name for name in names)
    ):
        raise UsageError("has a network that is not one of SB3's usual ones", path=str(path), hint=FUNCTION)
    for pattern, usual, squashed in _STACKS:
        layers = [
            name
            for name in names
            if pattern.fullmatch(name)
            and f"{name}.bias" in weights
            and getattr(weights.get(f"{name}.weight"), "ndim", 0) == 2
        ]
        if layers:
            pairs = [(weights[f"{name}.weight"], weights[f"{name}.bias"]) for name in layers]
            activation = _ACTIVATIONS.get(told, usual) if told else usual
            if told and told not in _ACTIVATIONS:
                raise UsageError(f"its activation {told} is not known", path=str(path), hint=FUNCTION)
            return lambda observation: _act(pairs, activation, spaces, images, observation, squashed=squashed)
    raise UsageError("holds no policy that can be read without unpickling", path=str(path), hint=FUNCTION)


def _images(weights: Mapping[str, Floats]) -> Callable[[Any], Floats] | None:
    """SB3's network for images (Mnih et al. 2015), where the policy has it."""
    homes = [found[1] for key in weights if (found := _IMAGES.fullmatch(key))]
    home = min((name for name in homes if "target" not in name and "critic" not in name), default="", key=len)
    if not home:
        return None
    try:
        layers = [
            [torch.from_numpy(weights[f"{home}.{part}.{kind}"]) for kind in ("weight", "bias")]
            for part in ("cnn.0", "cnn.2", "cnn.4", "linear.0")
        ]
    except KeyError:
        return None
    if tuple(weight.shape[-1] for weight, _ in layers[:3]) != _KERNELS:
        return None

    def features(observation: Any) -> Floats:
        pixels = torch.from_numpy(np.asarray(observation, dtype=np.float64) / 255.0)
        # SB3 puts the colours first by itself.
        pixels = pixels if pixels.shape[0] == layers[0][0].shape[1] else pixels.permute(2, 0, 1)
        values = pixels[None]
        for (weight, bias), stride in zip(layers, _STRIDES, strict=False):
            values = torch.relu(torch.nn.functional.conv2d(values, weight, bias, stride))
        found: Floats = torch.relu(torch.nn.functional.linear(values.flatten(), *layers[3])).numpy()
        return found

    return features


def _act(
    pairs: Any,
    activation: Activation,
    spaces: Spaces,
    images: Callable[[Any], Floats] | None,
    observation: Any,
    *,
    squashed: bool,
) -> Any:
    values = spaces.encode([observation])[0].astype(np.float64) if images is None else images(observation)
    if values.size != pairs[0][0].shape[1]:
        raise UsageError(
            f"the checkpoint takes {pairs[0][0].shape[1]} numbers, the observation has {values.size}",
            hint="check that the checkpoint belongs to this environment",
        )
    for weight, bias in pairs[:-1]:
        values = activation(weight @ values + bias)
    values = pairs[-1][0] @ values + pairs[-1][1]
    if spaces.is_discrete:
        return int(values.argmax()) + spaces.first_action
    return spaces.to_environment((spaces.from_unit(np.tanh(values)) if squashed else values)[None])[0]


def _read(path: Path) -> tuple[Mapping[str, Floats], str]:
    """The tensors, and the activation that the checkpoint's description names."""
    try:
        with open_file(real(path)) as file:
            data = read_members(file, (WEIGHTS,), MOST_BYTES)[WEIGHTS]
        with open_file(real(path)) as file:
            about = read_members(file, (ABOUT,), MOST_TEXT).get(ABOUT, b"")
        refuse_compressed(io.BytesIO(data))
        found = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
        tensors = {str(key): value for key, value in found.items() if value.layout is torch.strided}
        # A tensor may say that its one number is a million.
        if 8 * sum(value.numel() for value in tensors.values()) > MOST_BYTES:
            raise FormatError(f"its numbers take more than {MOST_BYTES >> 20} MB")
        named = _ACTIVATION.search(about.decode("utf-8", "replace"))
        return {key: value.double().numpy() for key, value in tensors.items()}, named[1] if named else ""
    except Exception as error:  # zipfile, torch and the content raise a dozen kinds
        told = (
            str(error) if isinstance(error, FormatError) else f"damaged, or not tensors alone ({type(error).__name__})"
        )
        raise UsageError(f"is no checkpoint of Stable-Baselines3: {told}", path=str(path)) from error

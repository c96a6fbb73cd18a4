"""Names of algorithms as people write them, and the one name each gets in a Run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

TRAINED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "sb3": ("PPO", "A2C", "DQN", "SAC", "TD3", "TRPO", "QRDQN", "TQC"),
        "torchrl": ("PPO", "SAC", "REINFORCE", "MM-RKHS"),
        "rlclinic": ("BC", "FILTERED-BC", "DAGGER", "SAFE-DAGGER", "ENSEMBLE-DAGGER", "LAZY-DAGGER", "GATED-DAGGER"),
        "d3rlpy": ("CQL", "IQL", "TD3PLUSBC", "DT"),
    }
)
"""What the lab trains, by library. The first that has an algorithm is its default."""

# Spellings in lower case without separators -> upper-case base name. Longer spellings are tried first.
SPELLINGS: dict[str, str] = {
    "ppo2": "PPO",
    "ppo1": "PPO",
    "ppolag": "PPO",
    "ppocontinuousaction": "PPO",
    "ppoatari": "PPO",
    "recurrentppo": "RECURRENTPPO",
    "maskableppo": "MASKABLEPPO",
    "appo": "APPO",
    "mappo": "MAPPO",
    "rmappo": "MAPPO",
    "ippo": "IPPO",
    "happo": "HAPPO",
    "hatrpo": "HATRPO",
    "amp": "AMP",
    "ampcontinuous": "AMP",
    # rl_games calls its PPO by the name of its base class.
    "a2ccontinuous": "PPO",
    "a2cdiscrete": "PPO",
    "ppg": "PPG",
    "ppo": "PPO",
    "gae": "PPO",
    "poca": "POCA",
    "a2c": "A2C",
    "a3c": "A3C",
    "acktr": "ACKTR",
    "acer": "ACER",
    "trpo": "TRPO",
    "vpg": "VPG",
    "reinforceplusplus": "REINFORCE++",
    "reinforce": "REINFORCE",
    "policygradient": "REINFORCE",
    "mmrkhs": "MM-RKHS",
    "impala": "IMPALA",
    "ars": "ARS",
    "discretesac": "DISCRETESAC",
    "discretecql": "DISCRETECQL",
    "discretebcq": "DISCRETEBCQ",
    "curlsac": "SAC",
    "sacae": "SAC",
    "sac": "SAC",
    "td3plusbc": "TD3PLUSBC",
    "td3bc": "TD3PLUSBC",
    "td3": "TD3",
    "ddpg": "DDPG",
    "tqc": "TQC",
    "redq": "REDQ",
    "droq": "DROQ",
    "crossq": "CROSSQ",
    "qrdqn": "QRDQN",
    "rainbow": "RAINBOW",
    "c51": "C51",
    "iqn": "IQN",
    "fqf": "FQF",
    "ddqn": "DQN",
    "doubledqn": "DQN",
    "deepq": "DQN",
    "dqn": "DQN",
    "r2d2": "R2D2",
    "qmix": "QMIX",
    "vdn": "VDN",
    "qplex": "QPLEX",
    "qtran": "QTRAN",
    "coma": "COMA",
    "maddpg": "MADDPG",
    "matd3": "MATD3",
    "facmac": "FACMAC",
    "qlearning": "Q-LEARNING",
    "sarsa": "SARSA",
    "cql": "CQL",
    "iql": "IQL",
    "awac": "AWAC",
    "bcq": "BCQ",
    "bear": "BEAR",
    "crr": "CRR",
    "marwil": "MARWIL",
    "gail": "GAIL",
    "airl": "AIRL",
    "safedagger": "SAFE-DAGGER",
    "ensembledagger": "ENSEMBLE-DAGGER",
    "lazydagger": "LAZY-DAGGER",
    "gateddagger": "GATED-DAGGER",
    "hgdagger": "GATED-DAGGER",
    "dagger": "DAGGER",
    "filteredbc": "FILTERED-BC",
    "dt": "DT",
    "decisiontransformer": "DT",
    "discretedecisiontransformer": "DT",
    "behaviorcloning": "BC",
    "behaviourcloning": "BC",
    "bc": "BC",
    "dreamerv3": "DREAMERV3",
    "dreamerv2": "DREAMERV2",
    "dreamer": "DREAMER",
    "tdmpc2": "TD-MPC2",
    "tdmpc": "TD-MPC",
    "muzero": "MUZERO",
    "grpo": "GRPO",
    "drgrpo": "GRPO",
    "dapo": "DAPO",
    "gspo": "GSPO",
    "rloo": "RLOO",
    "remax": "REMAX",
    "dpo": "DPO",
    "sft": "SFT",
}

# In a free name such as a folder these short words are too common to mean an algorithm.
AMBIGUOUS = frozenset(
    {"bc", "ars", "gae", "bear", "crr", "dagger", "dreamer", "rainbow", "iql", "sft", "amp", "coma", "dt"}
)

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9+]*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def algorithm_name(text: str) -> str:
    """The algorithm that a value such as `ppo`, `PPO2`, `QR-DQN` or `sb3.ppo.PPO` names; empty if none."""
    last = text.strip().strip("'\">").rsplit(".", 1)[-1]
    whole = _squeeze(last)
    if whole in SPELLINGS:
        return SPELLINGS[whole]
    return algorithm_in(last)


def algorithm_of_class(name: str) -> str:
    """The algorithm that a class such as `PPO`, `MaskablePPO` or `GRPOConfig` is; empty for any other class."""
    word = _squeeze(name)
    return SPELLINGS.get(word, "") if name[:1].isupper() and word not in AMBIGUOUS else ""


def algorithm_in(text: str) -> str:
    """The first algorithm that a free text such as a folder name mentions as a word; empty if none."""
    words = [word.lower() for word in _WORD.findall(text.replace("_", " "))]
    for size in (2, 1):
        for start in range(len(words) - size + 1):
            candidate = "".join(words[start : start + size])
            if candidate in SPELLINGS and candidate not in AMBIGUOUS:
                return SPELLINGS[candidate]
    for word in _WORD.findall(_CAMEL.sub(" ", text.replace("_", " "))):
        if word.lower() in SPELLINGS and word.lower() not in AMBIGUOUS:
            return SPELLINGS[word.lower()]
    return ""


def _squeeze(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower().removesuffix("trainer").removesuffix("config"))

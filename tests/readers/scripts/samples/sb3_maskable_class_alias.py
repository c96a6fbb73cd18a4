from sb3_contrib import MaskablePPO as Algo
from sb3_contrib.common.envs import InvalidActionEnvDiscrete

env = InvalidActionEnvDiscrete(dim=80, n_invalid_actions=60)
model = Algo("MlpPolicy", env, gamma=0.4, seed=32, verbose=1)
model.learn(5_000)

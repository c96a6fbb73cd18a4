import ray
from ray import tune

config = {
    "env": "Pendulum-v1",
    "lr": 1e-4,
    "gamma": 0.95,
    "train_batch_size": 512,
    "sgd_minibatch_size": 64,
    "num_workers": 2,
    "framework": "torch",
}
config["clip_param"] = 0.3
ray.init()
tune.run("PPO", config=config, stop={"timesteps_total": 400000})

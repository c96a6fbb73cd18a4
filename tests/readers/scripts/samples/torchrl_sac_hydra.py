import hydra
import torch
from torchrl.envs.libs.gym import GymEnv
from torchrl.objectives import SACLoss


@hydra.main(version_base="1.1", config_path="", config_name="config")
def main(cfg):
    env = GymEnv(cfg.env.name)
    loss = SACLoss(actor_network=None, qvalue_network=None, alpha_init=cfg.optim.alpha_init)
    loss.make_value_estimator(gamma=cfg.optim.gamma)
    optimizer = torch.optim.Adam(loss.parameters(), lr=cfg.optim.lr, weight_decay=0.0)


if __name__ == "__main__":
    main()

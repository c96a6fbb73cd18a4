for seed in 1 2 3; do python -m rl_zoo3.train --algo ppo --env CartPole-v1 --seed $seed --hyperparams learning_rate:0.001 gamma:0.98 --n-timesteps 100000; done

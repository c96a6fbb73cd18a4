set -x
train_files="$HOME/data/gsm8k/train.parquet"
python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=grpo \
    data.train_files=$train_files \
    data.train_batch_size=1024 \
    actor_rollout_ref.actor.optim.lr=1e-6 \
    actor_rollout_ref.actor.kl_loss_coef=0.001 \
    actor_rollout_ref.rollout.n=5 \
    trainer.total_epochs=15 $@

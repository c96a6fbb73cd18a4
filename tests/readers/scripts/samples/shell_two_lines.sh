CUDA_VISIBLE_DEVICES=0 python sac.py --env_id Hopper-v4 --batch_size 256 --tau 0.005 --seed $1
CUDA_VISIBLE_DEVICES=1 python sac.py --env_id Hopper-v4 --batch_size 512 --tau 0.005 --seed $2

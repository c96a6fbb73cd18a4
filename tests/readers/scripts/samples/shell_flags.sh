#!/bin/bash
#SBATCH --time=10:00:00
# python train.py --learning-rate 1.0
export LR=3e-4
SEED=1
python train.py \
    --env-id HalfCheetah-v4 --learning-rate $LR \
    --seed ${SEED} --num-envs=8 \
    --gamma 0.99 > log.txt 2>&1

GAMMA=0.9
python sb3_dqn_argparse.py --lr 1e-2 --gamma $GAMMA

"""Advice before and beside training: whether RL fits, which approach, which settings; reasoned from facts and cited."""

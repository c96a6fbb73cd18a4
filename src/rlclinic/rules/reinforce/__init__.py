"""REINFORCE: the noise of returns and what takes it away."""

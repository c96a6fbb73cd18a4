"""The optimiser: gradients, learning rates, losses, and numbers that are none."""

"""Training with TorchRL: losses, networks, and the trainers built on them."""

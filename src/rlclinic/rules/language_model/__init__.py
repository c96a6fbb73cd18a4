"""Language models: score and validation first, then length, entropy, KL to the reference, and the sampler."""

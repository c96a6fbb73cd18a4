"""One toml per framework: how to recognise it, its step axis, metric names, hyperparameter names, defaults."""

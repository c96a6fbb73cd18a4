"""Configs: the user's own keys to canonical hyperparameters, with the framework's defaults marked."""

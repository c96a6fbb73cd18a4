"""YAML without constructing anything, with the line of every value."""

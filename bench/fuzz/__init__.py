"""Mutated inputs through every parser, every reader and a whole diagnosis: `make fuzz`."""

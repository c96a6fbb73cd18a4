"""Imitation: what an expert's labels teach, and what they do not."""

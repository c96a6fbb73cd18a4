"""Findings and config in, root causes with probabilities out."""

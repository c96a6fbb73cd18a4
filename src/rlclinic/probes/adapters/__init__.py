"""Trainers of known libraries behind the probe protocol. Each library is imported in its own file only."""

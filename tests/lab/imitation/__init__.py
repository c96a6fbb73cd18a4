"""Imitation as a backend of the lab."""

"""Offline learning: data sets of three tasks, planted faults, and the bake-off of algorithms."""

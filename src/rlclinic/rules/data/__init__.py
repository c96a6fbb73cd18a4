"""Data: how much each update sees, and how many updates there are."""

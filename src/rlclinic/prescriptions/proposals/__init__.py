"""Remedies worked out for one run: the change in the user's own settings, why, and what it is expected to do."""

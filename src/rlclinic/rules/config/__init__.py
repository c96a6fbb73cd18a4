"""The config: what could not run, what was dropped, and what is far from what works."""

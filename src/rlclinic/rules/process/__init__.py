"""Rules on the process: how it ended, how fast it ran, what it left behind."""

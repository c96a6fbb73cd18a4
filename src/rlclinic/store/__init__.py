"""What is remembered between calls: the index of runs."""

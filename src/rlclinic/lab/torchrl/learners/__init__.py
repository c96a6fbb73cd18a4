"""What each algorithm does with experience."""

"""Rules on whether the goal was reached, how far away it is, and how fast."""

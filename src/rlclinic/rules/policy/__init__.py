"""The policy: how fast it moves and how much it explores."""

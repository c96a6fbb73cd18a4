"""Whether `optimize` finds a faster configuration than a plain search does."""

"""Several runs side by side, and what a folder of runs has taught. `compare` and `history` are the public functions."""

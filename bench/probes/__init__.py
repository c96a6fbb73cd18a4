"""The proof of the probe ladder: record what it says about mutants and stock trainers, and score the record."""

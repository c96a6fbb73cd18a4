"""Benchmarks. `make bench` runs them all and prints ratios measured in one run."""

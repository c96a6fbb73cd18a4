"""Known-good runs: recorded, condensed into the package, and what `compare --reference` makes of other runs."""

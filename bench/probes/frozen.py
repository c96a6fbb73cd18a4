"""Which cases the ladder had when the mutants from real fixes were written.

Those mutants were written against a ladder that was frozen, so that their score would not be circular. Cases that came
later are listed here; the page gives the score of both ladders.
"""

from __future__ import annotations

ADDED = frozenset({
    ("S0g", "vector"), ("P5", "clip"), ("P6", "usual"), ("P8", "both"), ("P10", "limit"), ("P10", "evaluation"),
    ("P11", "normalised"), ("P12", "edge"), ("P16", "frames"),
})  # fmt: skip
"""Code and name of each case that is younger than `bench/mutants/from_fixes`."""

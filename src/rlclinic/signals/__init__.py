"""Signals: from a series to numbers with their uncertainty.

A signal measures and never judges. It takes a `Series`, a `Curve` (a series resampled once and shared by
many signals) or a plain array, and returns a small frozen dataclass. Every result carries `n`, the finite
logged points it rests on, and `enough`: where that is False, the numbers that could not be measured are NaN.
Each file holds one signal, a function named like the file; files that begin with an underscore are shared
parts. Nothing is imported here, so a caller pays only for what it uses.
"""

"""Compact reference trainers behind the probe protocol, written so that one wrong line is one small patch.

Modules import each other relatively: a mutant is a second copy of this package with one text replaced.
"""

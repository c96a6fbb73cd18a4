"""Recorded steps of an environment: one file per format, none of which is ever unpickled."""

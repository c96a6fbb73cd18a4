"""Signals in, findings out. One file per rule, in families; `registry` has a row for each."""

"""Causes in, exact and valid changes out."""

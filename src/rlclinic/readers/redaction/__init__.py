"""Secrets are removed here, before any text leaves a reader."""

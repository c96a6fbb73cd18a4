"""Hooks that measure a training run from the inside at little cost. Live monitoring uses the same ones."""

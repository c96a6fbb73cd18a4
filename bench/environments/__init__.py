"""Broken and healthy environments on which `rlclinic examine` is measured beside other checkers."""

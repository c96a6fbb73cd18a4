"""Training with real libraries, the instruments that watch it, and the run folder it writes. Knows no diagnosis."""

from rlclinic.lab.asking import recipe_from
from rlclinic.lab.carry import carry, recipe_of_run
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.train import train

__all__ = ["Recipe", "carry", "recipe_from", "recipe_of_run", "train"]

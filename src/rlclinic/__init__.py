"""rlclinic: find out why a reinforcement-learning run is not learning."""

__version__ = "0.1.0"

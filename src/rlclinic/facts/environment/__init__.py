"""From recorded steps of an environment to facts about it; what needs no running environment."""

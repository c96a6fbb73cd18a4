"""Imitation as a backend of the lab: behaviour cloning and DAgger with its variants."""

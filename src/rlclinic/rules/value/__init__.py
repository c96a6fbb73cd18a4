"""The critic: what it explains, at which scale, and whether the numbers mean anything."""

"""The fault benchmark: recorded runs with known faults, and how right the diagnosis of them is."""

"""Which proposals are prescribed, and in which order."""

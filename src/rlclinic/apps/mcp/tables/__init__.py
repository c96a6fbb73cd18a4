"""Names that agents use and that no framework's table holds."""

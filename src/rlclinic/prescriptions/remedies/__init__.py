"""What can be done about each cause: tables, the values that must be computed, and code to paste."""

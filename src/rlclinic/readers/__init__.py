"""A path in, a frozen Run out."""

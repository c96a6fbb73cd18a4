"""Kinds of files that many frameworks write: each part reads one kind into a draft."""

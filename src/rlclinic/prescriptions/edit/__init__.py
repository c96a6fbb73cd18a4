"""Edits of the user's own config files: only the scalar that changes is replaced, and that is proven."""

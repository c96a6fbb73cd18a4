"""One file per framework or tracker: what a run folder of theirs looks like and what it adds to a draft.

Each module has `read(draft)`. The registry says by which files a folder is recognised.
"""

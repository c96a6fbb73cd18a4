"""A path in, a frozen Run out: `readers.open` reads, `readers.discover` finds."""

"""Console text: encodings, progress bars, tracebacks, notebooks."""

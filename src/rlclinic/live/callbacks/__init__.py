"""One file per training library: its own kind of hook, which feeds a `Monitor` and never harms the training."""

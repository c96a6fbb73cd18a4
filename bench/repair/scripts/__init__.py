"""Training scripts as people keep them: one file, flags, an event file. The repair benchmark runs them by command."""

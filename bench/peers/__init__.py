"""Other diagnosers on the same logs, each through a small adapter that gives it its best chance."""

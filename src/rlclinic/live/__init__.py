"""Watching a run while it trains: what it logs, what that means so far, and a message when that changes."""

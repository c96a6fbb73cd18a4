"""Small tasks of the benchmark's own, the ledger of true returns, and wrappers that put a fault into any task."""

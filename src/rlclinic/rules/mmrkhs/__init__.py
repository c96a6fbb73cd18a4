"""MM-RKHS: its MMD penalty, its mirror step and its ratio."""

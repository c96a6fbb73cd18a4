"""File formats: bytes in, plain columns and text out. Nothing here knows about reinforcement learning."""

"""Rules on the course of the return: rising, flat, swinging, falling back."""

"""Realistic implementation bugs as small patches on compact reference trainers."""

"""Paired experiments that prove or refute a change."""

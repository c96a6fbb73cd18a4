"""Thin skins over the library: no logic here."""

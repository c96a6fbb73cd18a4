"""Printed Python values, parsed without evaluating anything."""

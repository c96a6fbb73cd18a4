"""Estimate how much each finding speaks for each cause from the calibration part of the fault benchmark."""

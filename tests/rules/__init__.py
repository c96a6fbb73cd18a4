"""Rules: a positive, a near miss and a healthy run for each."""

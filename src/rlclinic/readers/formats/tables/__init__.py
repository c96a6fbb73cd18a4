"""CSV, TSV and JSON lines as columns of numbers and text."""

"""What is measured about one run, once and lazily, in the words of the field."""

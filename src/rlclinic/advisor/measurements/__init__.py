"""What can be measured on a user's own problem, each with its uncertainty."""

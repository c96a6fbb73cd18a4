"""The tools, by the question that they answer. A tool is a function of a Workspace and plain arguments to a Reply."""

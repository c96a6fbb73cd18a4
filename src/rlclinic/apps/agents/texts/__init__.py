"""The words of the skill and of the agent definitions; what stands in double braces is filled in from the code."""

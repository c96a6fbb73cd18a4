"""The environment as the logs show it: how episodes end, what they pay, and how hard the task is."""

"""Rules about learning from recorded steps: how a policy and its values stand to the data."""

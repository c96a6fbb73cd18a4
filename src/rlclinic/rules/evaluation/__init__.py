"""Rules on whether the logged returns say how good the policy is."""

"""Q-learning and replay: Q values, temperature, exploration, buffer, target networks."""

"""Real networks as graphs of a scenario."""

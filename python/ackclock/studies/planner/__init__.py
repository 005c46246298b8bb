"""Questions of a network's planner: loads over time, failures, upgrades, weights."""

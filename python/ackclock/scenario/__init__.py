"""The scenario: what is simulated, as plain data, checked, explained and run."""

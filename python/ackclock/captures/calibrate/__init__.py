"""Calibrates a path from a capture: rate, delay, buffer, losses, each with an interval."""

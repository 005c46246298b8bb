"""Captures and logs of real connections: what they show of what was sent and acknowledged."""

"""Reads captures and logs: what was sent, acknowledged, lost and marked, and when."""

"""Profiles as data: what a control is measured in, and what it must reach. No code."""

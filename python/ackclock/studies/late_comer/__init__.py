"""Tests that any control of the registry, or of a user's own file, can be put through."""

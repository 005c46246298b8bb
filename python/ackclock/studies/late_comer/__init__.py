"""Tests that any control of the registry, or of a file of the user, can be put through."""

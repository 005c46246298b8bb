"""Checks what entries of a paper say about each other, before anything runs."""

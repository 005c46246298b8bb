"""Reads a paper's folder."""

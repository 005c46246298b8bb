"""Runs as files of other tools: one module a format, listed in `registry`."""

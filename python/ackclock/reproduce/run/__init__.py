"""Runs the studies of a paper and judges its claims."""

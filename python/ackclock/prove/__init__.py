"""Theorems about a control on every path of a model, and counterexamples that run."""

"""Mutants of the Rust core: their source, their tests."""

"""Bottlenecks of a network: surveys, upgrades, maps, and the same case in packets."""

"""The engines: what answers a case, by name."""

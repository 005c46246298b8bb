"""What `make release` does besides building: checks, lists, archives."""

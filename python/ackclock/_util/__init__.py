"""What every part uses and that knows nothing of congestion control."""

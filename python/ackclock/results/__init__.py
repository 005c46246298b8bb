"""What a run leaves: its summary, its tables, its packets as a capture file."""

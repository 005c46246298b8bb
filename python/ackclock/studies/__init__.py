"""Ready-made studies: each asks one question of many runs and writes a report."""

"""Ready-made studies: each answers one question from many runs and writes a report."""

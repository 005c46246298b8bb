"""Code of students: in a separate process with limits, and what became of it."""

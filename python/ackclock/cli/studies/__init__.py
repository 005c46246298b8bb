"""Commands that put a control, a queue or a run to the test."""

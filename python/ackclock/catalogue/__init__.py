"""What the core offers: its schema, its algorithms as classes, checks, and user-defined ones."""

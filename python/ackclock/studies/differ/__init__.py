"""A scenario with its controls, and the same with the code of a released library in their place."""

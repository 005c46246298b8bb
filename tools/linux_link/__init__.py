"""A link in userspace between two network namespaces, for recordings of the running kernel's TCP."""

"""A link in userspace between two network namespaces, to record the kernel's TCP."""

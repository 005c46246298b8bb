"""A scenario's bottleneck in real time, between hosts with the kernel's own TCP."""

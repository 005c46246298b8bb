"""Who else runs a scenario: ns-2, ns-3, the kernel, shipped stacks, guests; and what each needs."""

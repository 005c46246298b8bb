"""The same scenario written out for other simulators, from its compiled plan."""

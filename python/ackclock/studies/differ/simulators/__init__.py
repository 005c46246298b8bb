"""Other simulators as peers: the scenario written out, run as a program, its files read back."""

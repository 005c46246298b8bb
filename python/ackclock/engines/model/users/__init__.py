"""Users of one queue who choose their rates: what they want, what they get, where they settle."""

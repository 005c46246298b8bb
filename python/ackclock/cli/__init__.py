"""Commands of the command line that are more than a screen long, one file each."""

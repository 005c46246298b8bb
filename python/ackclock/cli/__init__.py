"""The command line: what it begins with, and a file for each command."""

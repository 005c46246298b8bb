"""``python -m ackclock`` is the command line."""

from ackclock.cli import entry

entry()

"""``python -m ackclock`` is the command line."""

from ackclock.cli.main import entry

entry()

# Written by `python -m ackclock.stubs`; do not edit.
from ackclock.catalogue import Record



# Written by `python -m ackclock.stubs`; do not edit.



# Written by `python -m ackclock.stubs`; do not edit.
from ackclock.catalogue import Record

class Standard(Record):
    def __init__(self) -> None: ...

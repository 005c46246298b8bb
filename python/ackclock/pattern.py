"""Traffic patterns: between which hosts flows go; ``dir(ackclock.pattern)`` lists the classes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.catalogue.rooms.pattern import *
else:
    from ackclock.catalogue.rooms import attach_room

    __getattr__, __dir__ = attach_room(__name__)

"""Credits of receivers, one class per rule; ``dir(ackclock.credits)`` lists them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.catalogue.rooms.credits import *
else:
    from ackclock.catalogue.rooms import attach_room

    __getattr__, __dir__ = attach_room(__name__)

"""Impairments of links, one class per algorithm; ``dir(ackclock.impairment)`` lists them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.catalogue.rooms.impairment import *
else:
    from ackclock.catalogue.rooms import attach_room

    __getattr__, __dir__ = attach_room(__name__)

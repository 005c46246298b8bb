"""Sharing rules of fluid links, one class per algorithm; ``dir(ackclock.sharing)`` lists them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.catalogue.rooms.sharing import *
else:
    from ackclock.catalogue.rooms import attach_room

    __getattr__, __dir__ = attach_room(__name__)

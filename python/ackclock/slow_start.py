"""Slow start rules, one class per algorithm; ``dir(ackclock.slow_start)`` lists them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.catalogue.rooms.slow_start import *
else:
    from ackclock.catalogue.rooms import attach_room

    __getattr__, __dir__ = attach_room(__name__)

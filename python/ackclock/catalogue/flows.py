"""Flows, groups, traffic, TCP settings and changes of links as classes, from the schema."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.catalogue.rooms.flows import *
else:
    from ackclock.catalogue.records import record
    from ackclock.catalogue.rooms import attach

    NAMES = ("Flow", "Group", "LinkChange", "QuicOptions", "TcpOptions", "Traffic")
    __getattr__, __dir__ = attach(__name__, lambda: {name: record(name) for name in NAMES})

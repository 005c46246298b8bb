"""Whether a program is a guest: the protocol of docs/reference/guest-protocol.md, tried on it."""

from ackclock.studies.guests.conformance import Check, check_guest

__all__ = ["Check", "check_guest"]

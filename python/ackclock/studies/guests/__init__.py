"""Whether a program is a guest: the protocol of docs/reference/guest-protocol.md, tried on it."""

from ackclock.studies.guests.conformance import GuestCheck, check_guest

__all__ = ["GuestCheck", "check_guest"]

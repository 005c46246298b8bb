"""IDMaps: estimates of the distance between any two hosts from a few measured ones.

Tracers know their distances to each other and to address prefixes. The distance of two hosts is
estimated as the way from one's prefix to its nearest tracer, on to the tracer nearest to the
other's prefix, and from there to that prefix.

Distances come from `matrix` (measured) or `internetwork` (drawn); tracers from `place`; the
estimates from `IDMaps`, or from `VirtualLinks` where tracers exchange a thinned map; what they are
worth from `accuracy`; `nearest_mirror` chooses servers by them; `green` gives them to a queue.
"""

from __future__ import annotations

from ackclock.studies.idmaps.accuracy import Accuracy, accuracy
from ackclock.studies.idmaps.distances import Distances, internetwork, matrix
from ackclock.studies.idmaps.feed import green
from ackclock.studies.idmaps.mirrors import MirrorChoice, nearest_mirror
from ackclock.studies.idmaps.placement import PLACEMENTS, place
from ackclock.studies.idmaps.service import IDMaps, prefixes
from ackclock.studies.idmaps.virtual_links import VirtualLinks, spanner

__all__ = [
    "PLACEMENTS",
    "Accuracy",
    "Distances",
    "IDMaps",
    "MirrorChoice",
    "VirtualLinks",
    "accuracy",
    "green",
    "internetwork",
    "matrix",
    "nearest_mirror",
    "place",
    "prefixes",
    "spanner",
]

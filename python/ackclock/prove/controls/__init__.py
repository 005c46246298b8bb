"""Controls as relations, a line each."""

from __future__ import annotations

from ackclock.prove.controls import aimd, bbr, binomial, copa, cubic, dctcp, fast, vegas
from ackclock.prove.controls.relation import Relation

__all__ = ["RELATIONS", "Relation"]

RELATIONS: dict[str, Relation] = {
    "aimd": aimd.RELATION,
    "binomial": binomial.RELATION,
    "cubic": cubic.RELATION,
    "vegas": vegas.RELATION,
    "fast": fast.RELATION,
    "copa": copa.RELATION,
    "bbr": bbr.RELATION,
    "dctcp": dctcp.RELATION,
}
"""Relations by the name of the control in packets."""

"""Selfish users: what each would choose, where that ends, and what it costs all.

`play` runs a *game*: players choose among strategies (controls, rates, numbers of connections) in a
packet network; the equilibria come out with intervals. `rates` has the classical model: users of
one queue who choose Poisson rates, after Shenker.
"""

from __future__ import annotations

from ackclock.studies.game.empirical import Played, plan, play
from ackclock.studies.game.form import Game, GameError, from_document, load_game

__all__ = ["Game", "GameError", "Played", "from_document", "load_game", "plan", "play"]

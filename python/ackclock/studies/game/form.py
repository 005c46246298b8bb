"""The file form of a game: players, strategies, networks, a payoff, a scenario; TOML or JSON.

[game]
players = 4                       # each has a separate pair of hosts
payoff = "goodput"                # what a player wants
reps = 5

[strategies]                      # what a player may do: fields of its flow
aimd = { cc = "aimd" }
greedy = { cc = "aimd", connections = 4 }
hose = { source = { kind = "cbr", rate = "10 Mbps" } }

[networks]                        # where the game is played: changes of the scenario by path
fifo = { "net.qdisc" = "fifo" }
fq = { "net.qdisc" = "fq" }

[scenario]                        # all else; net has as many pairs as players
duration = "60 s"
[scenario.net]
kind = "dumbbell"
pairs = 4
rate = "10 Mbps"
rtt = "40 ms"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.errors import AckclockError, suggestion
from ackclock.studies.game.payoff import Payoff
from ackclock.studies.game.profiles import profiles

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ackclock.studies.game.profiles import Profile

__all__ = ["Game", "GameError", "from_document", "load_game"]

KEYS = ("game", "strategies", "networks", "scenario")
GAME_KEYS = ("title", "players", "payoff", "weight", "reps", "tolerance")
START_JITTER = "1 s"
"""Players start at random within this, or replications would all be the same."""

MOST_PROFILES = 2000
"""More profiles than this are a mistake rather than a game."""


class GameError(AckclockError):
    """The description of a game is wrong."""


@dataclass(frozen=True)
class Game:
    """A symmetric game.

    Parameters
    ----------
    title
        What it is called.
    players
        How many.
    payoff
        What each wants.
    reps
        Runs of each profile; replicate r has seed r more than the scenario.
    tolerance
        A gain by less than this share of what a player has is no reason to move.
    strategies
        Fields of a flow by name; ``connections`` says how many such flows.
    networks
        Changes of the scenario by path, by name.
    scenario
        Document without flows.
    file
        Where it came from.
    """

    title: str
    players: int
    payoff: Payoff
    reps: int
    tolerance: float
    strategies: Mapping[str, Mapping[str, Any]]
    networks: Mapping[str, Mapping[str, Any]]
    scenario: Mapping[str, Any]
    file: Path | None = None

    @property
    def profiles(self) -> list[Profile]:
        """Every profile."""
        return list(profiles(self.players, len(self.strategies)))

    def flows(self, profile: Profile) -> list[dict[str, Any]]:
        """Flows of a profile; the player's number is before the dot of a flow's id.

        Parameters
        ----------
        profile
            Players by strategy; the first players play the first strategy.
        """
        flows = []
        player = 0
        for fields, count in zip(self.strategies.values(), profile, strict=True):
            flow = {key: value for key, value in fields.items() if key != "connections"}
            for _ in range(count):
                for number in range(fields.get("connections", 1)):
                    name = {"id": f"p{player}.{number}", "pair": player}
                    flows.append({**name, "start_jitter": START_JITTER, **flow})
                player += 1
        return flows


def load_game(file: str | Path) -> Game:
    """Read a game.

    Parameters
    ----------
    file
        TOML, or JSON.

    Raises
    ------
    GameError, ScenarioError
        It cannot be read, or is wrong.
    """
    from pathlib import Path

    from ackclock._util.documents import read_document

    path = Path(file)
    return from_document(read_document(path), path)


def from_document(document: Mapping[str, Any], file: Path | None = None) -> Game:
    """Make a game of plain data.

    Parameters
    ----------
    document
        The tables of the file.
    file
        Where they came from.

    Raises
    ------
    GameError
        The document is wrong.
    """
    try:
        return _make_game(document, file)
    except AckclockError as error:
        where = "" if file is None or str(file) in str(error) else f"{file}: "
        raise GameError(f"{where}{error}") from None


def _make_game(document: Mapping[str, Any], file: Path | None) -> Game:
    _check_keys(document, KEYS, "")
    settings = _table(document, "game")
    _check_keys(settings, GAME_KEYS, "game.")
    strategies = {
        name: _strategy(name, fields) for name, fields in _table(document, "strategies").items()
    }
    if len(strategies) < 2:
        raise GameError("strategies: a game needs at least two")
    networks = _table(document, "networks") or {"as given": {}}
    for name, changes in networks.items():
        if not isinstance(changes, dict):
            raise GameError(f"networks.{name}: {changes!r} is not a table of changes by path")
    scenario = _table(document, "scenario")
    if "flows" in scenario:
        raise GameError("scenario.flows: the flows are the players'; say them in strategies")
    players = _whole(settings, "players", None, 2)
    game = Game(
        title=str(settings.get("title", "game")),
        players=players,
        payoff=Payoff(str(settings.get("payoff", "goodput")), settings.get("weight")),
        reps=_whole(settings, "reps", 5, 1),
        tolerance=_share(settings),
        strategies=strategies,
        networks=networks,
        scenario=scenario,
        file=file,
    )
    if len(game.profiles) > MOST_PROFILES:
        message = (
            f"{players} players with {len(strategies)} strategies have {len(game.profiles):,}"
            f" profiles; expected at most {MOST_PROFILES:,}: take fewer of either"
        )
        raise GameError(message)
    return game


def _strategy(name: str, fields: Any) -> dict[str, Any]:
    if not isinstance(fields, dict):
        raise GameError(f'strategies.{name}: {fields!r} is not a table, as in {{ cc = "cubic" }}')
    for key in ("pair", "src", "dst", "id"):
        if key in fields:
            raise GameError(f"strategies.{name}.{key}: each player has a separate pair")
    connections = fields.get("connections", 1)
    if isinstance(connections, bool) or not isinstance(connections, int) or connections < 1:
        message = f"strategies.{name}.connections is {connections!r}; expected at least 1"
        raise GameError(message)
    return fields


def _check_keys(table: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in allowed:
            raise GameError(f'{where}{key}: "{key}" is not a key here; {suggestion(key, allowed)}')


def _table(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key, {})
    if not isinstance(value, dict):
        raise GameError(f"{key}: {value!r} is not a table")
    return value


def _whole(settings: Mapping[str, Any], key: str, default: int | None, least: int) -> int:
    value = settings.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        text = "is missing" if value is None else f"is {value!r}"
        raise GameError(f"game.{key} {text}; expected a whole number, at least {least}")
    return value


def _share(settings: Mapping[str, Any]) -> float:
    value = settings.get("tolerance", 0.01)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise GameError(f"game.tolerance is {value!r}; expected a number from 0 to 1")
    return float(value)

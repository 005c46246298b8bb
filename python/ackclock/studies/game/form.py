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

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Required, TypedDict

from ackclock.catalogue.entries import Key, defaults_of, schema_of
from ackclock.errors import AckclockError, Problem, ScenarioError
from ackclock.studies.game.payoff import Payoff
from ackclock.studies.game.profiles import profiles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ackclock.studies.game.profiles import Profile

__all__ = ["Game", "GameError", "GameFile", "from_document", "load_game"]

START_JITTER = "1 s"
"""Players start at random within this, or replications would all be the same."""

MOST_PROFILES = 2000
"""More profiles than this are a mistake rather than a game."""


class GameError(ScenarioError):
    """The description of a game is wrong. All problems are reported together."""


class GameTable(TypedDict, total=False):
    """How the game is played."""

    title: Annotated[str, "What it is called.", Key(default="game")]
    players: Required[
        Annotated[int, "How many; each has a separate pair of hosts.", Key(minimum=2)]
    ]
    payoff: Annotated[str, "What each wants.", Key(default="goodput")]
    weight: Annotated[float, "Weight of loss or delay in it; left out: that of the payoff."]
    reps: Annotated[
        int,
        "Runs of each profile; replicate r has seed r more than the scenario.",
        Key(minimum=1, default=5),
    ]
    tolerance: Annotated[
        float,
        "A gain by less than this share of what a player has is no reason to move.",
        Key(minimum=0, exclusiveMaximum=1, default=0.01),
    ]


class GameFile(TypedDict, total=False):
    """A game: players, what they may do, networks, what they want."""

    game: Required[Annotated[GameTable, "How the game is played."]]
    strategies: Required[
        Annotated[
            Mapping[str, Mapping[str, Any]],
            "Fields of a flow by name; connections says how many such flows.",
        ]
    ]
    networks: Annotated[
        Mapping[str, Mapping[str, Any]], "Changes of the scenario by path, by name."
    ]
    scenario: Required[Annotated[Mapping[str, Any], "The scenario without flows."]]


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
    from ackclock.catalogue.form import parameter_problems

    problems = parameter_problems(schema_of(GameFile), dict(document))
    if not problems:
        problems = list(_find_problems(document))
    name = None if file is None else str(file)
    if problems:
        raise GameError([replace(problem, file=name) for problem in problems])
    table = {**defaults_of(schema_of(GameTable)), **document["game"]}
    try:
        payoff = Payoff(table["payoff"], table.get("weight"))
    except AckclockError as error:
        raise GameError([Problem("", str(error), name)]) from None
    game = Game(
        title=table["title"],
        players=table["players"],
        payoff=payoff,
        reps=table["reps"],
        tolerance=float(table["tolerance"]),
        strategies=document["strategies"],
        networks=document.get("networks") or {"as given": {}},
        scenario=document["scenario"],
        file=file,
    )
    if len(game.profiles) > MOST_PROFILES:
        message = (
            f"{game.players} players with {len(game.strategies)} strategies have"
            f" {len(game.profiles):,} profiles; expected at most {MOST_PROFILES:,}: take fewer of"
            " either"
        )
        raise GameError([Problem("", message, name)])
    return game


def _find_problems(document: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with a document of valid form."""
    if len(document["strategies"]) < 2:
        yield Problem("strategies", "a game needs at least two")
    for name, fields in document["strategies"].items():
        for key in ("pair", "src", "dst", "id"):
            if key in fields:
                yield Problem(f"strategies.{name}.{key}", "each player has a separate pair")
        count = fields.get("connections", 1)
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            message = f"{count!r} is out of range; expected a whole number, at least 1"
            yield Problem(f"strategies.{name}.connections", message)
    if "flows" in document["scenario"]:
        yield Problem("scenario.flows", "the flows are the players'; say them in strategies")

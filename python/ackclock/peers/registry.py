"""The registry of peers: who runs a scenario beside us, and what a peer has to offer."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.catalogue.guest_programs import PREFIX
from ackclock.errors import Problem, ScenarioError, UnsupportedError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = [
    "PEERS",
    "Options",
    "PreparedPeer",
    "named_paths",
    "prepare",
    "prepare_all",
    "read_peers",
]

PEERS = {
    "linux": "ackclock.peers.linux:linux",
    "noq": "ackclock.peers.shipped:noq",
    "ns2": "ackclock.peers.ns2.run:ns2",
    "ns3": "ackclock.peers.ns3.run:ns3",
    "quinn": "ackclock.peers.shipped:quinn",
    "s2n": "ackclock.peers.shipped:s2n",
}
"""By name, the function that makes a `Prepared` of scenario and options; imported on first use."""
GUEST = "ackclock.peers.guest:guest"
"""The same of a guest, with its command before them."""


@dataclass(frozen=True)
class Options:
    """What a user may say about peers that are programs.

    Parameters
    ----------
    paths
        Where programs are, by peer; left out: on PATH.
    time_limit_s
        A run of a program is stopped after this [s].
    """

    paths: Mapping[str, Path] = field(default_factory=dict)
    time_limit_s: float = 600.0


@dataclass(frozen=True)
class PreparedPeer:
    """A scenario that a peer can run.

    Parameters
    ----------
    ours
        What runs here beside it: the scenario, in the era that the peer corresponds to.
    run
        The peer's run with a seed. Its summary has all flows in the order of ours; its table
        ``windows`` has those that are compared.
    flows
        Numbers of the flows that are compared, of a run of the peer.
    release
        Name and version of what ran, of a run of the peer.
    cost
        How long a run takes, relative to one of ours.
    links
        Names of the links that are compared.
    resolution
        By quantity, by how much values may differ that the peer does not write any finer.
    notes
        What the peer does otherwise, a sentence each.
    has_events
        Whether the peer does the same at the same times, and has the table ``packets``, so that
        the first event that differs can be found.
    samples_s
        The peer's windows are samples at this interval [s], and ours are looked at as often; None:
        they are known at every change.
    """

    ours: Scenario
    run: Callable[[int], Run]
    flows: Callable[[Run], list[int]]
    release: Callable[[Run], str]
    cost: float = 1.0
    links: tuple[str, ...] = ()
    resolution: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    has_events: bool = False
    samples_s: float | None = None


def read_peers(text: str) -> list[str]:
    """Read a list of peers.

    Parameters
    ----------
    text
        As typed, with commas between; a guest is ``guest:COMMAND``, without a comma.

    Raises
    ------
    ScenarioError
        There is no such peer.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in PEERS and not name.startswith(PREFIX)]
    if unknown or not names:
        first_unknown = unknown[0] if unknown else ""
        message = f'there is no peer "{first_unknown}"; {suggestion(first_unknown, list(PEERS))}'
        raise ScenarioError([Problem("--against", message)])
    return names


def named_paths(options: Iterable[str]) -> dict[str, Path]:
    """Read where programs are.

    Parameters
    ----------
    options
        As typed, ``PEER=FILE``.

    Raises
    ------
    ScenarioError
        There is no such peer, or no file is named.
    """
    paths = {}
    for text in options:
        name, equals, path = text.partition("=")
        if name not in PEERS or not path:
            hint = suggestion(name, list(PEERS)) if equals else "expected PEER=FILE"
            raise ScenarioError([Problem("--path", f'is "{text}"; {hint}')])
        paths[name] = Path(path)
    return paths


def prepare(peer: str, scenario: Scenario, options: Options) -> PreparedPeer:
    """Prepare a scenario for a peer.

    Parameters
    ----------
    peer
        One of `PEERS`, or ``guest:COMMAND``.
    scenario
        With our controls.
    options
        What the user said about peers.

    Raises
    ------
    ScenarioError
        The peer cannot run it.
    UnsupportedError
        The peer is not there.
    """
    if peer.startswith(PREFIX):
        guest = pkgutil.resolve_name(GUEST)
        prepared: PreparedPeer = guest(peer, scenario, options)
        return prepared
    make: Callable[[Scenario, Options], PreparedPeer] = pkgutil.resolve_name(PEERS[peer])
    return make(scenario, options)


def prepare_all(
    scenario: Scenario, options: Options
) -> tuple[dict[str, PreparedPeer], dict[str, str]]:
    """Prepare a scenario for every peer that is there and can run it; of the others, say why not.

    Parameters
    ----------
    scenario, options
        As of `prepare`.

    Raises
    ------
    UnsupportedError
        No peer can run it.
    """
    prepared, left_out = {}, {}
    for peer in PEERS:
        try:
            prepared[peer] = prepare(peer, scenario, options)
        except (ScenarioError, UnsupportedError) as error:
            left_out[peer] = "; ".join(str(error).splitlines())
    if not prepared:
        reasons = "\n".join(f"{peer}: {reason}" for peer, reason in left_out.items())
        message = f"no peer can run it\n{reasons}"
        raise UnsupportedError(message)
    return prepared, left_out

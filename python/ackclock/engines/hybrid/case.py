"""The hybrid case: a packet scenario whose other flows are rates, as a frozen document."""

from __future__ import annotations

import copy
import hashlib
import json
import time
from typing import TYPE_CHECKING, Any

from ackclock.case import Cost, Parcel
from ackclock.engines.fluid.case import FluidCase
from ackclock.engines.hybrid import document
from ackclock.engines.hybrid.document import of_background
from ackclock.errors import Problem, ScenarioError
from ackclock.scenario.document import DocumentCase
from ackclock.scenario.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from ackclock.case import Spill
    from ackclock.engines.hybrid.outcome import HybridRun
    from ackclock.engines.hybrid.solve import Solver

__all__ = ["HybridCase"]


class HybridCase(DocumentCase):
    """A packet scenario on a network that many other flows fill as rates. Cannot be changed.

    Parameters
    ----------
    data
        The document: that of a packet scenario, and a table ``background``.
    file
        Where it came from: relative paths inside are relative to it, messages name it.

    Raises
    ------
    ScenarioError
        With every problem of form at once. What needs the whole network is found by `check`.
    """

    __slots__ = ("_crowd", "_prepared", "_scenario")
    engine = "hybrid"
    is_random = True
    _scenario: Scenario
    _crowd: FluidCase
    _prepared: Solver | None

    def _fill(
        self, data: dict[str, Any], file: Path | None, typed: Iterable[str] | None = None
    ) -> None:
        name = None if file is None else str(file)
        problems = [Problem(p.path, p.message, name) for p in document.form_problems(data, typed)]
        packet_data = {
            k: v
            for k, v in data.items()
            if k not in ("background", "traffic", "groups", "switches")
        }
        packet_scenario = None
        try:
            packet_scenario = Scenario.__new__(Scenario)
            packet_scenario._fill(packet_data, file, typed)
        except ScenarioError as error:
            problems += error.problems
        if problems or packet_scenario is None:
            raise ScenarioError(problems)
        background = data["background"]
        crowd = {"net": data["net"], "seed": data.get("seed", 1), "allocation": "max-min"}
        crowd |= {key: background[key] for key in ("traffic", "arrivals") if key in background}
        with of_background():
            fluid = FluidCase(crowd, file)
        self._freeze(
            _data=data, _file=file, _scenario=packet_scenario, _crowd=fluid, _prepared=None
        )

    def __repr__(self) -> str:
        name = f"{self.name!r}: " if self.name else ""
        kind = self.background.get("traffic", {}).get("kind", "arrivals")
        return f"HybridCase({name}{self._data['net']['kind']}, {kind} behind packets)"

    @property
    def scenario(self) -> Scenario:
        """The packet scenario without the background."""
        return self._scenario

    @property
    def crowd(self) -> FluidCase:
        """The background alone, as a fluid case."""
        return self._crowd

    @property
    def background(self) -> dict[str, Any]:
        """The table ``background`` with its defaults."""
        return document.fill_defaults(self._data["background"])

    @property
    def holds_lock(self) -> bool:
        """Whether user-defined Python code runs inside the engine."""
        return self._scenario.holds_lock

    @property
    def recorded(self) -> str:
        """What is recorded, as canonical text."""
        return self._scenario.recorded

    @property
    def fingerprint(self) -> str:
        """SHA-256 [hex] of what is computed; name, seed and recorded tables do not count."""
        rest = {k: v for k, v in self.background.items() if k not in ("traffic", "arrivals")}
        said = [self._scenario.fingerprint, self._crowd.fingerprint, rest]
        text = json.dumps(said, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def with_seed(self, seed: int) -> HybridCase:
        """Copy with another seed; nothing is checked again.

        Parameters
        ----------
        seed
            The seed.
        """
        copied = HybridCase.__new__(HybridCase)
        copied._freeze(
            _data={**self._data, "seed": seed},
            _file=self._file,
            _scenario=self._scenario.with_seed(seed),
            _crowd=self._crowd.with_seed(seed),
            _prepared=None,
        )
        return copied

    def to_document(self) -> dict[str, Any]:
        """Plain data that names no file of data; an equal case can be made of it."""
        own, crowd = self._scenario.to_document(), self._crowd.to_document()
        background = copy.deepcopy(self._data["background"])
        background |= {key: crowd[key] for key in ("traffic", "arrivals") if key in crowd}
        return {**own, "background": background, "engine": self.engine}

    def parcel(self) -> Parcel:
        """All that another machine needs to run the case."""
        own = self._scenario.parcel()
        background = self.to_document()["background"]
        whole = {**own.document, "background": background, "engine": self.engine}
        return Parcel(whole, own.files)

    def check(self, *, spills: bool = False) -> None:
        """Check meaning as well as form.

        Parameters
        ----------
        spills
            Whether large tables go to disk.

        Raises
        ------
        ScenarioError
            With every problem of the first part that is wrong: scenario, background, links.
        """
        self.cost(spills=spills)

    def cost(self, *, spills: bool = False, is_rough: bool = False) -> Cost:
        """Predict what `execute` will need, for one pass.

        Parameters
        ----------
        spills
            Whether large tables go to disk.
        is_rough
            Whether the case is one of many.

        Raises
        ------
        ScenarioError
            With every problem, too little memory among them.
        """
        return self._solver().packets().scenario.cost(spills=spills, is_rough=is_rough)

    def execute(
        self,
        progress: Callable[[float, float], object] | None = None,
        spill: Spill | None = None,
    ) -> HybridRun:
        """Run the packets over what the rates leave.

        Parameters
        ----------
        progress
            Called with the part that is done and the simulated time [s].
        spill
            Where recorded tables go that become large.

        Returns
        -------
        HybridRun
            Summary and tables.

        Raises
        ------
        ScenarioError
            The case is wrong; every problem is reported.
        AlgorithmError
            An algorithm broke its contract.
        """
        from ackclock.engines.hybrid.outcome import outcome

        begun = time.process_time()
        solved = self._solver().run(progress, spill)
        return outcome(self, solved, time.process_time() - begun)

    def whole(self) -> Scenario:
        """Write the case with all its flows as packets, to compare with.

        Demands of the background's pairs are left out: every flow takes what it can get.

        Raises
        ------
        ScenarioError
            The case is wrong; every problem is reported.
        """
        return self._solver().whole()

    def _solver(self) -> Solver:
        from ackclock.engines.hybrid.solve import Solver

        if self._prepared is None:
            self._freeze(_prepared=Solver(self._scenario, self._crowd, self.background))
        assert self._prepared is not None
        return self._prepared

"""What the core gets of a scenario: one document without files, and the maker of user code."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.catalogue.network_kinds import expand, kind_of
from ackclock.errors import ScenarioError
from ackclock.scenario.document import folder_of, locate_problems, read_problems
from ackclock.scenario.user_code import bind_classes, contain_exits, open_workshop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ackclock.catalogue.python_class import Definition
    from ackclock.catalogue.python_source import Workshop
    from ackclock.errors import Problem

__all__ = ["CoreInput"]


class CoreInput:
    """A scenario's document on its way to the core; each step is taken on first use and kept.

    Parameters
    ----------
    data
        The document, of valid form. It is not copied, and not changed.
    file
        Where it came from: file names inside are relative to it, messages name it.
    """

    __slots__ = ("_classes", "_file", "_fingerprint", "_resolved", "_text_after_seed", "data")

    def __init__(self, data: dict[str, Any], file: Path | None) -> None:
        self.data = data
        self._file = file
        self._resolved: dict[str, Any] | None = None
        self._classes: Mapping[str, Definition] = {}
        self._fingerprint: str | None = None
        # Empty where more than the seed depends on the seed.
        self._text_after_seed: str | None = None

    @property
    def seed(self) -> int:
        """Seed of every random number."""
        return int(self.data.get("seed", 1))

    @property
    def recorded_tables(self) -> list[str]:
        """Names of the tables to record besides the summary."""
        return list(self.data.get("record", {}).get("tables", ()))

    @property
    def classes(self) -> Mapping[str, Definition]:
        """User-defined classes by the names that the document has for them."""
        self.resolve()
        return self._classes

    def with_seed(self, data: dict[str, Any]) -> CoreInput:
        """Copy for a document that differs in its seed alone.

        Parameters
        ----------
        data
            The document.
        """
        # Sweeps do this for every run: what the core gets is written once for all of them.
        if self._text_after_seed is None and self._resolved is not None:
            self._text_after_seed = self._write_after_seed()
        copied = CoreInput(data, self._file)
        if self._resolved is not None:
            copied._resolved = {**self._resolved, "seed": data["seed"]}
        copied._classes = self._classes
        copied._fingerprint = self._fingerprint
        copied._text_after_seed = self._text_after_seed
        return copied

    def resolve(self) -> dict[str, Any]:
        """Read the files that the document names, once.

        Raises
        ------
        ScenarioError
            One cannot be read.
        """
        if self._resolved is None:
            from ackclock.scenario.resolve_files import resolve

            folder = folder_of(self._file)
            try:
                full = resolve(self.data, folder)
            except ScenarioError as error:
                raise locate_problems(error.problems, self._file) from None
            # What the files say now: an edit later makes no other run of this scenario.
            self._classes = bind_classes({**full, "net": self.data["net"]}, folder)
            self._resolved = full
        return self._resolved

    def without_files(self) -> dict[str, Any]:
        """As `resolve`, with tables where that has rows of traces."""
        from ackclock.scenario.traces import to_tables

        return to_tables(self.resolve())

    def form(self) -> tuple[dict[str, Any], Workshop | None]:
        """Give the document as the core takes it, and the maker of user code if there is some."""
        full = expand(self.resolve())
        workshop = open_workshop(full, self.seed, self._classes, folder_of(self._file))
        return (full if workshop is None else workshop.core_form()), workshop

    def text(self) -> tuple[str, Workshop | None]:
        """As `form`, in JSON."""
        if self._text_after_seed:
            return f'{{"seed": {self.seed}{self._text_after_seed}', None
        data, workshop = self.form()
        return json.dumps(data, allow_nan=False), workshop

    def checked_text(self) -> tuple[str, Workshop | None]:
        """As `text`; a file that cannot be read is reported with all else that is wrong.

        Raises
        ------
        ScenarioError
            With every problem.
        """
        try:
            return self.text()
        except ScenarioError as error:
            from ackclock.catalogue.form import hidden_problems

            places = [problem.path for problem in error.problems]
            hidden = hidden_problems(self.data, places, self.find_first_problems)
            raise locate_problems([*error.problems, *hidden], self._file) from None

    def query(self, function: Callable[[str, Workshop | None, float | None], str]) -> Any:
        """Call a function of the core and read its JSON.

        Parameters
        ----------
        function
            Of the text, the maker of user code, and the CPU time that a run may take [s].

        Raises
        ------
        ScenarioError
            With every problem that the core reports.
        """
        from ackclock.scenario.time_limit import most_cpu_s

        text, workshop = self.checked_text()
        try:
            with contain_exits(workshop):
                return json.loads(function(text, workshop, most_cpu_s()))
        except _core.InputError as error:
            raise locate_problems(read_problems(str(error)), self._file) from None

    def find_first_problems(self, data: dict[str, Any]) -> list[Problem]:
        """Find what is wrong at first sight with a scenario of valid form from the same file.

        Parameters
        ----------
        data
            The document.
        """
        try:
            text, workshop = CoreInput(data, self._file).text()
        except ScenarioError as error:
            return list(error.problems)
        with contain_exits(workshop):
            return read_problems(_core.first_problems(text, workshop))

    @property
    def fingerprint(self) -> str:
        """SHA-256 [hex] of what is simulated; name, seed and recorded tables do not count."""
        if self._fingerprint is None:
            from ackclock.scenario.traces import to_tables

            # What an environment draws from the seed is compared under one seed.
            compared = self
            if self.seed != 1 and self._draws_network():
                compared = CoreInput({**self.data, "seed": 1}, self._file)
            # The same whether traces are in files, and so rows, or not.
            text = json.dumps(to_tables(compared.form()[0]), allow_nan=False)
            data = json.loads(_core.canonical(text))
            for key in ("name", "seed", "record"):
                data.pop(key, None)
            text = json.dumps(data, sort_keys=True, separators=(",", ":"))
            self._fingerprint = hashlib.sha256(text.encode()).hexdigest()
        return self._fingerprint

    def has_user_code(self) -> bool:
        """Whether user-defined Python code or guests run inside the engine."""
        return self.form()[1] is not None

    def _draws_network(self) -> bool:
        """Whether the core's network depends on the seed."""
        kind = kind_of(self.data["net"])
        return kind is not None and kind.expand is not None

    def _write_after_seed(self) -> str:
        """The core's text from after the seed on, the same for every seed; empty if it is not."""
        if self._draws_network() or self.has_user_code():
            return ""
        rest = {key: value for key, value in self.resolve().items() if key != "seed"}
        return f", {json.dumps(rest, allow_nan=False)[1:]}"

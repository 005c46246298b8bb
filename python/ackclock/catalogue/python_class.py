"""User-defined controls and AQMs: decorated classes and their parameters.

A class is known by a reference: ``file.py:Class`` where it is at the top level of a file, else
``session:Class``, which lasts as long as the process. A file that has changed is read again for
scenarios that are made afterwards; its hash is that of the file when the class was defined.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import sys
import threading
import typing
from pathlib import Path
from types import CodeType, NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, dataclass_transform, overload

from ackclock._core import Verdict
from ackclock._util import units
from ackclock.catalogue.class_names import SESSION
from ackclock.errors import AckclockError, Problem, ScenarioError, nearest, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from ackclock.catalogue import schema

__all__ = [
    "BitsPerSecond",
    "Bytes",
    "DefinitionError",
    "Drop",
    "Mark",
    "Pass",
    "Seconds",
    "aqm",
    "control",
]

T = TypeVar("T")

Pass, Mark, Drop = Verdict.Pass, Verdict.Mark, Verdict.Drop
if TYPE_CHECKING:
    # A parameter takes text besides, and the instance has a number: no annotation says both.
    Seconds = float | Any
    BitsPerSecond = float | Any
    Bytes = float | Any
else:
    Seconds = Annotated[float, "duration"]
    """Annotation of a parameter in seconds that may also be given as ``"5 ms"``."""
    BitsPerSecond = Annotated[float, "rate"]
    """Annotation of a parameter in bits per second that may also be given as ``"10 Mbps"``."""
    Bytes = Annotated[float, "size"]
    """Annotation of a parameter in bytes that may also be given as ``"64 kB"``."""

_RESERVED = ("kind", "rng")
_PLAIN = {float: "a number", int: "a whole number", bool: "true or false", str: "text"}


class DefinitionError(AckclockError, TypeError):
    """A decorated class cannot serve: a method is missing, or a parameter has no default."""


@dataclasses.dataclass(frozen=True)
class _Room:
    name: str
    word: str
    required: dict[str, tuple[str, ...]]
    optional: dict[str, tuple[str, ...]]
    cadences: tuple[str, ...]


CONTROL = _Room(
    "cc",
    "a congestion control",
    {"on_ack": ("window", "ack"), "on_congestion": ("window", "event")},
    {
        "on_timeout": ("window", "event"),
        "on_lost": ("window", "lost"),
        "phase": (),
        "probes": (),
    },
    ("ack", "round"),
)
AQM = _Room(
    "qdisc",
    "an AQM",
    {"on_enqueue": ("packet", "queue")},
    {"on_dequeue": ("packet", "queue"), "on_timer": ("queue",)},
    ("packet",),
)


@dataclasses.dataclass(frozen=True)
class _Parameter:
    default: Any
    kinds: tuple[type, ...]
    quantity: str | None

    def problem(self, value: object) -> str | None:
        """Say what is wrong with a value; None if nothing is."""
        if self.quantity is not None and value is not None:
            return units.quantity_problem(value, self.quantity)
        if any(_fits(value, kind) for kind in self.kinds):
            return None
        wanted = " or ".join(_PLAIN[kind] for kind in self.kinds if kind is not NoneType)
        return f"{value!r} is not {wanted}"

    def convert(self, value: Any) -> Any:
        """Convert a valid value into what the class works with."""
        if self.quantity is not None and value is not None:
            return units.parse(value, self.quantity)
        whole = isinstance(value, int) and not isinstance(value, bool)
        return float(value) if whole and int not in self.kinds else value


def _fits(value: object, kind: type) -> bool:
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    return isinstance(value, int | float if kind is float else kind)


@dataclasses.dataclass(frozen=True)
class Definition:
    """A decorated class as the engine needs it.

    Parameters
    ----------
    cls
        The class.
    room
        ``cc`` or ``qdisc``.
    word
        What it is, as text.
    reference
        By which scenarios name it.
    file
        Its file; None if it is in none.
    text
        The source; empty if it is not to be had.
    sha256
        Hash of the source, or of the compiled code where there is none.
    cadence
        ``ack``, ``round``, ``packet`` or an interval [s].
    slow_start
        Whether the flow's slow start rule grows the window below ssthresh.
    parameters
        What may be given, by name.
    """

    cls: type
    room: str
    word: str
    reference: str
    file: Path | None
    text: str
    sha256: str
    cadence: str | float
    slow_start: bool
    parameters: dict[str, _Parameter]

    def problems(self, values: schema.Data) -> list[Problem]:
        """Find what is wrong with parameters.

        Parameters
        ----------
        values
            Values by name.
        """
        problems = []
        for name, value in values.items():
            parameter = self.parameters.get(name)
            if parameter is None:
                title, hint = self.cls.__name__, suggestion(name, self.parameters)
                problems.append(Problem(name, f'{title} has no parameter "{name}"; {hint}'))
            elif message := parameter.problem(value):
                problems.append(Problem(name, message))
        return problems


known: dict[str, Definition] = {}
lock = threading.RLock()


@overload
def control(cls: type[T], /) -> type[T]: ...
@overload
def control(
    *, cadence: str | float = "ack", slow_start: bool = True
) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform()
def control(
    cls: type[T] | None = None, /, *, cadence: str | float = "ack", slow_start: bool = True
) -> Any:
    """Make a class a congestion control.

    Its annotated fields with defaults are parameters. Its methods change the window that they are
    given: ``on_ack(self, window, ack)`` when data is acknowledged outside slow start and recovery,
    ``on_congestion(self, window, event)`` when the window must be reduced, and, if there is one,
    ``on_timeout(self, window, event)`` in place of RFC 5681's answer to a timeout. With
    ``on_lost(self, window, lost)`` it is called for each segment declared lost, and ``on_ack``
    in recovery too. ssthresh follows a window that is lowered, unless the method sets it.
    ``self.rng`` is a `random.Random` of the flow's own. ``phase(self)`` and ``probes(self)``, if
    there are such, return the name of its state and numbers by name, for the tables ``states``,
    ``probes`` and ``probe_series``.

    Parameters
    ----------
    cls
        The class.
    cadence
        When ``on_ack`` is called: for each ``ack``, once a ``round`` trip, or at an interval such
        as ``"100 ms"`` [s]; what came in between is added up.
    slow_start
        False: ``on_ack`` gets all acknowledgements, those below ssthresh too.

    Raises
    ------
    DefinitionError
        The class cannot serve; one sentence says why.
    """
    if cls is None:
        return lambda cls: _define(cls, CONTROL, cadence, slow_start=slow_start)
    return _define(cls, CONTROL, cadence, slow_start=slow_start)


@overload
def aqm(cls: type[T], /) -> type[T]: ...
@overload
def aqm(*, cadence: str | float = "packet") -> Callable[[type[T]], type[T]]: ...
@dataclass_transform()
def aqm(cls: type[T] | None = None, /, *, cadence: str | float = "packet") -> Any:
    """Make a class an AQM over one FIFO queue.

    Its annotated fields with defaults are parameters. ``on_enqueue(self, packet, queue)`` and, if
    there is one, ``on_dequeue(self, packet, queue)`` return `Pass`, `Mark` or `Drop`. ``self.rng``
    is a `random.Random` of the link's own. A packet that finds the buffer full is dropped before.

    Parameters
    ----------
    cls
        The class.
    cadence
        ``packet``; or an interval such as ``"15 ms"`` [s], at which ``on_timer(self, queue)`` is
        called besides.

    Raises
    ------
    DefinitionError
        The class cannot serve; one sentence says why.
    """
    if cls is None:
        return lambda cls: _define(cls, AQM, cadence, slow_start=True)
    return _define(cls, AQM, cadence, slow_start=True)


def _define(cls: Any, room: _Room, cadence: str | float, *, slow_start: bool) -> Any:
    if not isinstance(cls, type):
        message = f"{cls!r} is not a class; {room.word} is a decorated class"
        raise DefinitionError(message)
    interval = _cadence(cls, room, cadence)
    for method, arguments in {**room.required, **room.optional}.items():
        needed = method in room.required or (method == "on_timer" and isinstance(interval, float))
        _check_method(cls, room, method, arguments, needed=needed)
    if "__dataclass_fields__" not in vars(cls):
        cls = _as_dataclass(cls)
    parameters = _parameters(cls)
    reference, file, text, sha256 = _source(cls)
    definition = Definition(
        cls, room.name, room.word, reference, file, text, sha256, interval, slow_start, parameters
    )
    _convert_when_made(cls, definition)
    cls.__ackclock__ = definition
    with lock:
        known[reference] = definition
    return cls


def _as_dataclass(cls: type) -> type:
    try:
        return dataclasses.dataclass(cls)
    except (TypeError, ValueError) as error:
        message = f"{cls.__name__}: {error}"
        raise DefinitionError(message) from None


def _cadence(cls: type, room: _Room, cadence: str | float) -> str | float:
    if cadence in room.cadences:
        return cadence
    try:
        interval = units.parse(cadence, "duration")
    except (ValueError, TypeError):
        interval = 0.0
    if interval <= 0:
        cadence_names = ", ".join(f'"{word}"' for word in room.cadences)
        message = (
            f'{cls.__name__}: the cadence is {cadence!r}; expected {cadence_names} or "100 ms"'
        )
        raise DefinitionError(message)
    return interval


def _check_method(
    cls: type, room: _Room, method: str, arguments: tuple[str, ...], *, needed: bool
) -> None:
    expected = f"def {method}({', '.join(('self', *arguments))})"
    function = getattr(cls, method, None)
    if function is None:
        if needed:
            method_names = [name for name, value in vars(cls).items() if callable(value)]
            near = nearest(method, method_names)
            hint = f' (did you mean that by "{near}"?)' if near else ""
            message = f"{cls.__name__} has no method {method}{hint}; {room.word} needs {expected}"
            raise DefinitionError(message)
        return
    try:
        signature = inspect.signature(function)
        signature.bind(*(("self", *arguments)))
    except (TypeError, ValueError):
        signature_text = inspect.signature(function) if callable(function) else ""
        message = (
            f"{cls.__name__}.{method}{signature_text} has the wrong arguments; expected {expected}"
        )
        raise DefinitionError(message) from None


def _parameters(cls: Any) -> dict[str, _Parameter]:
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        message = f"{cls.__name__}: the annotation {error.name} is not known"
        raise DefinitionError(message) from None
    parameters = {}
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        title = f"{cls.__name__}.{field.name}"
        if field.name in _RESERVED:
            message = f"{title} cannot be a parameter; the name is reserved"
            raise DefinitionError(message)
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        if default is dataclasses.MISSING:
            message = f"{title} has no default; expected one, as in {field.name}: float = 1.0"
            raise DefinitionError(message)
        parameter = _parameter(title, hints[field.name], default)
        if problem := parameter.problem(default):
            message = f"{title}: the default {problem}"
            raise DefinitionError(message)
        parameters[field.name] = parameter
    return parameters


def _parameter(title: str, hint: Any, default: Any) -> _Parameter:
    options = (
        typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, UnionType) else (hint,)
    )
    kinds: list[type] = []
    quantity = None
    for option in options:
        if typing.get_origin(option) is Annotated:
            base, *extras = typing.get_args(option)
            quantity = next((extra for extra in extras if extra in units.UNITS), quantity)
            kinds.append(base)
        else:
            kinds.append(option)
    if any(kind not in _PLAIN and kind is not NoneType for kind in kinds):
        message = (
            f"{title} is annotated {hint!r}; a parameter is float, int, bool, str, or one of"
            " ackclock.Seconds, BitsPerSecond, Bytes; state of a run belongs into __post_init__"
        )
        raise DefinitionError(message)
    return _Parameter(default, tuple(kinds), quantity)


def _convert_when_made(cls: Any, definition: Definition) -> None:
    """Check and convert the parameters of every instance before its own __init__."""
    original = cls.__init__
    signature = inspect.signature(original)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        given = signature.bind(self, *args, **kwargs).arguments
        own = {name: value for name, value in given.items() if name in definition.parameters}
        found = definition.problems(own)
        if found:
            raise ScenarioError(found)
        full = {name: parameter.default for name, parameter in definition.parameters.items()}
        full.update(own)
        original(self, **{n: definition.parameters[n].convert(v) for n, v in full.items()})

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    cls.__init__ = __init__


def _source(cls: type) -> tuple[str, Path | None, str, str]:
    """Reference, file, text and hash of a class."""
    name = cls.__qualname__
    module_file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    file = Path(module_file).resolve() if module_file is not None else None
    if file is not None and "<locals>" not in name:
        try:
            content = file.read_bytes()
        except OSError:
            file = None
        else:
            text = content.decode("utf-8", "replace")
            return f"{file}:{name}", file, text, hashlib.sha256(content).hexdigest()
    try:
        text = inspect.getsource(cls)
        digest = hashlib.sha256(text.encode()).hexdigest()
    except (OSError, TypeError):
        text, digest = "", _code_hash(cls)
    with lock:
        number = sum(key.split("#")[0] == f"{SESSION}:{cls.__name__}" for key in known)
    mark = f"#{number + 1}" if number else ""
    return f"{SESSION}:{cls.__name__}{mark}", file, text, digest


def _code_hash(cls: type) -> str:
    digest = hashlib.sha256()

    def add(code: CodeType) -> None:
        digest.update(code.co_code + repr((code.co_names, code.co_varnames)).encode())
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                add(constant)
            else:
                digest.update(repr(constant).encode())

    for name, value in sorted(vars(cls).items()):
        code = getattr(value, "__code__", None)
        if code is not None and not name.startswith("__"):
            digest.update(name.encode())
            add(code)
    return digest.hexdigest()


def to_data(value: Any) -> schema.Data:
    """Write a decorated class or an instance of it as a scenario has it.

    Parameters
    ----------
    value
        The class or instance.
    """
    cls = value if isinstance(value, type) else type(value)
    definition = vars(cls).get("__ackclock__")
    if definition is None:
        message = f"{cls.__name__} is not decorated itself, only a class that it inherits from"
        raise DefinitionError(message)
    changed = {}
    if not isinstance(value, type):
        for name, parameter in definition.parameters.items():
            setting = getattr(value, name)
            if setting != parameter.convert(parameter.default):
                changed[name] = setting
    return {"kind": "python", "class": definition.reference, **changed}

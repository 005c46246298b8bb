"""Who sent a flow, and what a search adds to the path that closed forms show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ackclock.captures.calibrate.search import NOT_KNOWN, CandidateSender
from ackclock.captures.identify.identification import NONE, SURE, identify_flow

if TYPE_CHECKING:
    from ackclock.captures.calibrate.estimate import PathEstimate
    from ackclock.captures.calibrate.search import Fit
    from ackclock.captures.identify.identification import Identification
    from ackclock.captures.trace import FlowTrace

__all__ = ["USUAL", "describe_sender", "improve", "list_senders"]

USUAL = ("cubic", "aimd", "bbr")
"""Controls that most senders of the Internet have."""
_ERAS = ("linux", "rfc")


def list_senders(
    flow: FlowTrace, control: str | None, name: str
) -> tuple[list[CandidateSender], Identification | None]:
    """List the senders that a flow may have had, and what `identify` says of it.

    Parameters
    ----------
    flow
        The flow.
    control
        Its control, as the user or the file names it; None if neither does.
    name
        Name of the file.
    """
    if control is not None:
        return [CandidateSender(control, era) for era in _ERAS], None
    answer = identify_flow(flow, name)
    likely = [answer.answer] if answer.answer not in (NONE, "not known") else list(USUAL)
    return [CandidateSender(one, era) for one in likely for era in _ERAS], answer


def describe_sender(
    sender: CandidateSender | None, control: str | None, answer: Identification | None
) -> str:
    """Say which control sent a flow, and how that is known.

    Parameters
    ----------
    sender
        The nearest of the senders that were tried; None if none was.
    control
        As `list_senders`.
    answer
        What `identify` says.
    """
    if control is not None:
        return f"{control} (named)"
    chances = answer.probabilities if answer is not None else {}
    if answer is not None and chances.get(answer.answer, 0.0) >= SURE:
        return f"{answer.answer} ({chances[answer.answer]:.2f})"
    likely = ", ".join(f"{x} {chances[x]:.2f}" for x in list(chances)[:3])
    text = f"not known ({likely})" if likely else "not known"
    if sender is not None:
        text += f"; of {', '.join(USUAL)} the nearest is {sender.control}"
    return text


def improve(path: PathEstimate, fit: Fit) -> PathEstimate:
    """Join a path with what a search found, where closed forms show nothing or the wrong.

    Parameters
    ----------
    path
        What closed forms show.
    fit
        The search.
    """
    nearest = fit.nearest
    if fit.kind == NOT_KNOWN or nearest is None or nearest.kind != fit.kind:
        return path
    path = replace(path, doubts=list(path.doubts))
    if fit.kind in ("drop-tail", "shaper"):
        if path.buffer_bytes is None and path.rate_bps is not None:
            part = path.link_bps / path.rate_bps.value
            path.buffer_bytes = fit.interval(lambda x: x.draw.buffer_bytes * part)
            path.drop = "drop-tail"
            path.doubts.append("the buffer is that of the nearest run, not seen in the file")
        return path
    if fit.kind != "random":
        path.drop = "policer" if fit.kind == "policer" else "aqm"
    if fit.kind == "policer":
        path.rate_bps = fit.interval(lambda x: x.draw.rate_bps)
        path.least_buffer_bytes = None
    if path.buffer_bytes is not None:
        path.buffer_bytes = None
        path.doubts.append("no loss is a full buffer's: the buffer is at least the longest queue")
    return path

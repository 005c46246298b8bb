"""Names of the files of a reproduction's folder."""

from __future__ import annotations

__all__ = ["MARKER", "figure_files"]

MARKER = "reproduction.json"
"""The file by which a folder is known to be a reproduction."""


def figure_files(id_: str) -> dict[str, str]:
    """Names of the files of a figure by ending.

    Parameters
    ----------
    id_
        Of the figure.
    """
    stem = "fig-" + "".join(c if c.isalnum() or c in "._" else "-" for c in id_)
    return {ending: f"figures/{stem}.{ending}" for ending in ("svg", "png", "csv")}

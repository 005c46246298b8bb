"""Labels of points as columns of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

__all__ = ["label_column", "label_text", "own_name"]


def label_column(labels: Sequence[Any]) -> pa.Array:
    """Labels as a column: numbers if all are, else text; null where a point has none.

    Parameters
    ----------
    labels
        One per row.
    """
    from ackclock._util.arrow import array

    kinds = {type(label) for label in labels}
    if kinds == {bool}:
        return array(np.array(labels, dtype=np.bool_))
    if kinds == {int}:
        return array(np.array(labels, dtype=np.int64))
    if kinds and kinds <= {int, float, type(None)}:
        real = [float("nan") if label is None else label for label in labels]
        return array(np.array(real, dtype=np.float64))
    return array([None if label is None else label_text(label) for label in labels])


def label_text(label: object) -> str:
    """Write a label as columns of text have it.

    Parameters
    ----------
    label
        A label of an axis.
    """
    return str(label).lower() if isinstance(label, bool) else str(label)


def own_name(table: str, column: str) -> str:
    """Name a table's column that an axis has the name of: ``flow_cc`` for ``cc`` of ``flows``.

    Parameters
    ----------
    table, column
        Their names.
    """
    return f"{table.removesuffix('s')}_{column}"

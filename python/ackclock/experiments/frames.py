"""Values of runs as pandas and xarray have them; both are optional."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.errors import AckclockError, how_to_install

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    import xarray as xr

__all__ = ["data_frame", "data_set"]


def data_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Join columns to a data frame.

    Parameters
    ----------
    columns
        Lists or arrays of equal length by name.

    Raises
    ------
    AckclockError
        pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        message = f'a data frame needs the extra "pandas": {how_to_install("pandas")}'
        raise AckclockError(message) from None
    return pd.DataFrame(columns)


def data_set(columns: Mapping[str, Any], axes: Sequence[str]) -> xr.Dataset:
    """Spread columns over a grid.

    Parameters
    ----------
    columns
        Lists or arrays of equal length by name.
    axes
        Those that become dimensions, with their values in the order in which they come.

    Raises
    ------
    AckclockError
        xarray is not installed.
    """
    try:
        import xarray  # noqa: F401  pandas makes the data set
    except ImportError:
        message = f'a data set needs the extra "xarray": {how_to_install("xarray")}'
        raise AckclockError(message) from None
    data: xr.Dataset = data_frame(columns).set_index([*axes]).to_xarray()
    # The index sorts values; a sweep keeps the order in which they were given.
    return data.reindex({axis: list(dict.fromkeys(columns[axis])) for axis in axes})

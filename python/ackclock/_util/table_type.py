"""The type of tables: what of a ``pyarrow.Table`` is used most, for PyArrow has no types itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

__all__ = ["Table"]


class Table(Protocol):
    """A ``pyarrow.Table``: named columns of equal length. Units end the names of columns."""

    @property
    def num_rows(self) -> int:
        """Number of rows."""

    @property
    def num_columns(self) -> int:
        """Number of columns."""

    @property
    def column_names(self) -> list[str]:
        """Names of the columns in order."""

    @property
    def schema(self) -> Any:
        """Names and types of the columns, a ``pyarrow.Schema``."""

    def __len__(self) -> int:
        """Count the rows."""
        ...

    def __getitem__(self, key: str | int, /) -> Any:
        """Give a column, a ``pyarrow.ChunkedArray``."""

    def column(self, i: str | int, /) -> Any:
        """Give a column, a ``pyarrow.ChunkedArray``."""

    def itercolumns(self) -> Iterator[Any]:
        """Go through the columns."""
        ...

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a pandas data frame; needs pandas."""
        ...

    def to_pylist(self) -> list[dict[str, Any]]:
        """Convert to a list of rows."""
        ...

    def to_pydict(self) -> dict[str, list[Any]]:
        """Convert to lists by column."""
        ...

    def select(self, columns: Sequence[str | int], /) -> Table:
        """Keep some columns."""
        ...

    def filter(self, mask: Any, /) -> Table:
        """Keep rows where an array or expression of PyArrow is true."""
        ...

    def slice(self, offset: int = 0, length: int | None = None) -> Table:
        """Keep rows by their numbers."""
        ...

    def sort_by(self, sorting: str | list[tuple[str, str]], /) -> Table:
        """Sort rows by columns."""
        ...

    def group_by(self, keys: str | list[str], /) -> Any:
        """Group rows, to aggregate them: a ``pyarrow.TableGroupBy``."""

    def drop_columns(self, columns: str | list[str], /) -> Table:
        """Leave columns out."""
        ...

    def append_column(self, field: Any, column: Any, /) -> Table:
        """Add a column after the others."""
        ...

    def rename_columns(self, names: Any, /) -> Table:
        """Name columns anew."""
        ...

    def equals(self, other: Any, /) -> bool:
        """Compare names, types and values."""
        ...

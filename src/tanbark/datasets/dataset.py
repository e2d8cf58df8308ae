"""The `Dataset` class, which every loader returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class Dataset:
    """A table of attributes, the class of each row, and the source of the data.

    The attributes are an Arrow table: each column keeps its own type, and missing values are null. `X` and `y` convert
    them to numpy arrays, and ``X, y = dataset`` unpacks both.

    Parameters
    ----------
    name : str
        A short name.
    table : pyarrow.Table
        The attributes, without the class.
    labels : pyarrow.ChunkedArray
        The class of each row.
    target : str
        The name of the class.
    source : str
        The source of the data, as one sentence.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        The attributes.
    y : ndarray of shape (n_rows,)
        The labels.
    feature_names : tuple of str
        The names of the attributes.

    Raises
    ------
    ValueError
        If there are no attributes, two columns share a name, or the number of labels is not the number of rows.

    Examples
    --------
    >>> play = Dataset.from_columns(
    ...     "play", {"sky": ["blue", "grey", None], "degrees": [21, 12, 17]}, ["out", "in", "out"], source="Made up."
    ... )
    >>> play
    <Dataset play: 3 rows, 2 features, 2 classes>
    >>> X, y = play
    >>> X
    array([['blue', 21],
           ['grey', 12],
           [None, 17]], dtype=object)
    >>> play.frame().column_names
    ['sky', 'degrees', 'class']
    """

    name: str
    table: pa.Table
    labels: pa.ChunkedArray
    target: str
    source: str

    def __post_init__(self) -> None:
        names = self.table.column_names
        if not names:
            raise ValueError(f"dataset {self.name!r} has no attributes")
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"dataset {self.name!r} has more than one column named {repeated[0]!r}")
        if self.target in names:
            raise ValueError(f"dataset {self.name!r}: the class {self.target!r} is also an attribute")
        if len(self.labels) != self.table.num_rows:
            raise ValueError(f"dataset {self.name!r} has {self.table.num_rows:,} rows but {len(self.labels):,} labels")

    @classmethod
    def from_columns(
        cls, name: str, columns: Mapping[str, ArrayLike], labels: ArrayLike, *, source: str, target: str = "class"
    ) -> Dataset:
        """Create a dataset from columns. None and NaN are missing values.

        Parameters
        ----------
        name : str
            A short name.
        columns : mapping of str to array-like
            The attributes in order. Each is a sequence of numbers, strings or bools.
        labels : array-like
            The class of each row.
        source : str
            The source of the data, as one sentence.
        target : str, default="class"
            The name of the class.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> Dataset.from_columns("xor", {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}, [0, 1, 1, 0], source="Logic.")
        <Dataset xor: 4 rows, 2 features, 2 classes>
        """
        import pyarrow as pa

        table = pa.table({column: pa.array(values, from_pandas=True) for column, values in columns.items()})
        return cls(name, table, pa.chunked_array([pa.array(labels, from_pandas=True)]), target, source)

    @classmethod
    def from_table(cls, name: str, table: pa.Table, *, target: str, source: str) -> Dataset:
        """Create a dataset from an Arrow table that includes the class.

        Parameters
        ----------
        name : str
            A short name.
        table : pyarrow.Table
            The attributes and the class.
        target : str
            The name of the column that is the class.
        source : str
            The source of the data, as one sentence.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> import pyarrow as pa
        >>> table = pa.table({"wet": [True, False], "class": ["in", "out"]})
        >>> Dataset.from_table("play", table, target="class", source="Made up.")
        <Dataset play: 2 rows, 1 features, 2 classes>
        """
        n_targets = table.column_names.count(target)
        if n_targets != 1:
            raise ValueError(f"dataset {name!r} needs exactly one column named {target!r} (the class), got {n_targets}")
        return cls(name, table.drop_columns([target]), table.column(target), target, source)

    @property
    def X(self) -> NDArray[Any]:  # noqa: N802 (as in scikit-learn)
        """A new matrix of the attributes: int64 or float64 if all are numeric, otherwise object.

        Integers with missing values become floats. A missing value is NaN in a float matrix and None in an object one.
        """
        columns = [_to_numpy(column) for column in self.table.columns]
        if all(column.dtype != object for column in columns):
            return np.column_stack(columns)
        matrix = np.empty((self.table.num_rows, len(columns)), dtype=object)
        for j, column in enumerate(self.table.columns):
            matrix[:, j] = column.to_pylist()
        return matrix

    @property
    def y(self) -> NDArray[Any]:
        """A new array of the labels: int64 or float64 if they are numeric, otherwise object."""
        return _to_numpy(self.labels)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the attributes, in order."""
        return tuple(self.table.column_names)

    def frame(self) -> pa.Table:
        """Return the attributes with the class as the last column.

        Returns
        -------
        pyarrow.Table
        """
        return self.table.append_column(self.target, self.labels)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        yield self.X
        yield self.y

    def __repr__(self) -> str:
        rows, features = self.table.shape
        classes = len(self.labels.drop_null().unique())
        return f"<Dataset {self.name}: {rows:,} rows, {features:,} features, {classes:,} classes>"


def _to_numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    """Convert a column to int64, float64 (missing values are NaN) or object (missing values are None)."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) and column.null_count == 0:
        integers: NDArray[np.int64] = column.to_numpy().astype(np.int64)
        return integers
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        floats: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
        return floats
    objects = np.empty(len(column), dtype=object)
    objects[:] = column.to_pylist()
    return objects

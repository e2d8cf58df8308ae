"""Datasets in a folder of CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tanbark.datasets.bundled import UnknownDatasetError
from tanbark.datasets.dataset import Dataset

if TYPE_CHECKING:
    import pyarrow as pa

_MANIFEST = "MANIFEST.csv"
_SUFFIXES = (".csv", ".csv.gz")


class Folder(Mapping[str, Dataset]):
    """A read-only mapping from names to the datasets of a folder; each look-up reads the file again.

    Parameters
    ----------
    files : mapping of str to Path
        The file of each dataset.
    sources : mapping of str to str
        The `source` of each dataset, by the name of its file. It may be incomplete.
    """

    def __init__(self, files: Mapping[str, Path], sources: Mapping[str, str]) -> None:
        self._files = dict(files)
        self._sources = dict(sources)

    def __getitem__(self, name: str) -> Dataset:
        if name not in self._files:
            raise UnknownDatasetError.of(name, self._files)
        file = self._files[name]
        source = self._sources.get(file.name, f"Read from {file.name}.")
        table = _read_csv(file)
        return Dataset.from_table(name, table, target=table.column_names[-1], source=source)

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        return f"<Folder of {len(self)} datasets: {', '.join(self)}>"


def read_folder(path: str | Path) -> Folder:
    r"""Return the datasets of a folder of CSV files, as a mapping from names to datasets.

    Each ``.csv`` or ``.csv.gz`` file is a dataset named after the file. The first line contains the column names, and
    the last column is the class. Fields that are empty or ``NA``, ``NaN``, ``null`` or ``?`` are missing values. A
    column has type integer, float, bool or string, whichever fits all of its fields. A column without any value has
    type float.

    If there is a ``MANIFEST.csv`` with the columns ``file``, ``name`` and ``provenance``, it provides the `source` of
    the datasets.

    Parameters
    ----------
    path : str or Path
        The folder.

    Returns
    -------
    Folder
        A mapping from names to datasets. Files are read when they are looked up.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.
    ValueError
        If it has no CSV file, two files for one name, or an incomplete manifest.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as path:
    ...     _ = Path(path, "play.csv").write_text("sky,degrees,class\nblue,21,out\ngrey,,in\n")
    ...     folder = read_folder(path)
    ...     play = folder["play"]
    >>> play
    <Dataset play: 2 rows, 2 features, 2 classes>
    >>> play.table["degrees"].to_pylist()
    [21, None]
    """
    folder = Path(path)
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path)!r}")
    files: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        if file.name == _MANIFEST or not file.name.endswith(_SUFFIXES):
            continue
        name = file.name.removesuffix(".gz").removesuffix(".csv")
        if name in files:
            raise ValueError(f"the folder {str(path)!r} has two files for {name!r}: {files[name].name}, {file.name}")
        files[name] = file
    if not files:
        raise ValueError(f"the folder {str(path)!r} has no .csv or .csv.gz file")
    return Folder(files, _read_sources(folder / _MANIFEST))


def _read_sources(manifest: Path) -> dict[str, str]:
    """Return the source of each file in the manifest, or nothing if there is no manifest."""
    if not manifest.exists():
        return {}
    with manifest.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    if rows and not {"file", "name", "provenance"} <= rows[0].keys():
        raise ValueError(f"{str(manifest)!r} needs the columns file, name and provenance")
    return {row["file"]: f"{row['name']}, {row['provenance']}." for row in rows}


def _read_csv(file: Path) -> pa.Table:
    """Read a CSV file; pyarrow infers the type of a column from the whole file."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    from tanbark.sources.text_files import MISSING

    options = arrow_csv.ConvertOptions(
        null_values=MISSING, strings_can_be_null=True, true_values=_spellings("true"), false_values=_spellings("false")
    )
    try:
        table = arrow_csv.read_csv(file, convert_options=options)
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{str(file)!r} is not a CSV table: {error}") from error
    for i, field in enumerate(table.schema):
        if pa.types.is_null(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float64()))
    return table


def _spellings(word: str) -> list[str]:
    """Return the usual spellings of a bool; 0 and 1 remain numbers."""
    return [word, word.capitalize(), word.upper()]

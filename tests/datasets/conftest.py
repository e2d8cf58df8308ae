import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tanbark.datasets import Dataset

SHARED_DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not (SHARED_DATA / "MANIFEST.csv").exists():
        pytest.skip(f"the folder of published datasets {SHARED_DATA} is not here")
    return SHARED_DATA


@pytest.fixture
def published_rows(shared_data: Path) -> Callable[[str], tuple[list[str], Counter[tuple[str, ...]]]]:
    """Return a function that gives the header and the multiset of rows of a published file, as plain text."""

    def read(name: str) -> tuple[list[str], Counter[tuple[str, ...]]]:
        with (shared_data / f"{name}.csv").open(newline="") as lines:
            header, *rows = csv.reader(lines)
        return header, Counter(map(tuple, rows))

    return read


@pytest.fixture
def text_rows() -> Callable[[Dataset], tuple[list[str], Counter[tuple[str, ...]]]]:
    """Return a function that gives the column names and the multiset of rows of a dataset, as plain text."""

    def rows(dataset: Dataset) -> tuple[list[str], Counter[tuple[str, ...]]]:
        frame = dataset.frame()
        columns = [[str(value) for value in column.to_pylist()] for column in frame.columns]
        return frame.column_names, Counter(zip(*columns, strict=True))

    return rows

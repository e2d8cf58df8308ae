"""Real tables: every difference from pandas' own reading is one that a rule asks for."""

import warnings
from pathlib import Path

import pandas as pd
import pytest

from tanbark import Category, Counts, Encoder
from tanbark.sources import files

SHARED = Path(__file__).resolve().parents[4] / "shared"
FOLDERS = [SHARED / "data", SHARED / "more_data"]
FILES = [path for folder in FOLDERS for path in sorted(folder.glob("*.csv*")) if path.stem != "MANIFEST"]
LEADING_ZEROS = {"credit_crx.csv": {"a11", "a14"}, "post_operative.csv": {"comfort"}}
"""Columns that pandas reads as numbers, although some values begin with zeros."""


def read(path):
    """Return the attributes and the class of a table as text."""
    text = pd.read_csv(path, dtype=str, keep_default_na=False)
    return text.iloc[:, :-1], text.iloc[:, -1]


@pytest.mark.skipif(not FILES, reason="the tables stand beside the repository, in shared/data and shared/more_data")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_are_read_as_pandas_reads_them_except_for_leading_zeros(path):
    typed = pd.read_csv(path)
    X, y = typed.iloc[:, :-1], typed.iloc[:, -1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counts = Counts.from_batches(files(path), y.name, encoder=Encoder(coerce=True, identifiers="drop"), order=1)
        expected = Encoder().fit(X, y).schema_
    codes = LEADING_ZEROS.get(path.name, set())
    assert counts.schema.names == expected.names
    for u, (found, column) in enumerate(zip(counts.schema.columns, expected.columns, strict=True)):
        if found.name in codes:
            assert {type(level) for level in found.levels} == {str}
        elif isinstance(column, Category) and set(map(type, column.levels)) == {bool}:
            assert [level.lower() for level in found.levels] == [str(level).lower() for level in column.levels]
        else:
            assert found == column
        assert counts.class_counts.sum() - counts.value(u).sum() == X.loc[y.notna(), column.name].isna().sum()


@pytest.mark.skipif(not FILES, reason="the tables stand beside the repository, in shared/data and shared/more_data")
def test_levels_and_classes_that_look_like_missing_values_stay():
    paths = {path.name: path for path in FILES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        credit, german = (Encoder(coerce=True).fit(*read(paths[n])).schema_ for n in ("credit_crx.csv", "german.csv"))
    assert credit.classes == ("+", "-")
    for name in ("other_parties", "other_payment_plans", "own_telephone"):
        assert "none" in german.columns[german.index(name)].levels


@pytest.mark.skipif(not FILES, reason="the tables stand beside the repository, in shared/data and shared/more_data")
@pytest.mark.parametrize(("file", "column"), [("german.csv", "credit_amount"), ("dry_bean.csv.gz", "Area")])
def test_measurements_with_many_distinct_values_are_not_identifiers(file, column):
    X, y = read(next(path for path in FILES if path.name == file))
    schema = Encoder(coerce=True, identifiers="drop").fit(X, y).schema_
    assert column in schema.names

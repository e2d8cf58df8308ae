"""Real tables in which text is read: every difference from pandas' own reading is one that a rule asks for."""

import warnings
from pathlib import Path

import pandas as pd
import pytest

from tanbark import Encoder

SHARED = Path(__file__).resolve().parents[4] / "shared"
FOLDERS = [SHARED / "data", SHARED / "more_data"]
FILES = [path for folder in FOLDERS for path in sorted(folder.glob("*.csv*")) if path.stem != "MANIFEST"]
LEADING_ZEROS = {"credit_crx.csv": {"a11", "a14"}, "post_operative.csv": {"comfort"}}
"""Columns that pandas reads as numbers, although some values begin with zeros."""


def read(path):
    """Return the attributes and the class of a table as text, and as pandas reads them."""
    text = pd.read_csv(path, dtype=str, keep_default_na=False)
    typed = pd.read_csv(path)
    return text.iloc[:, :-1], text.iloc[:, -1], typed.iloc[:, :-1]


def kind_in_pandas(column):
    return "number" if column.dtype.kind in "iuf" and column.notna().any() else "category"


@pytest.mark.skipif(not FILES, reason="the tables stand beside the repository, in shared/data and shared/more_data")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_columns_are_read_as_pandas_reads_them_except_for_leading_zeros(path):
    X, y, typed = read(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = Encoder(coerce=True, identifiers="drop").fit(X, y).schema_
    kinds = {one.name: one.kind for one in schema.recipe.inputs}
    different = {name for name in X if kinds[name] != kind_in_pandas(typed[name])}
    assert different == LEADING_ZEROS.get(path.name, set())
    for name in X:
        is_missing = schema.recipe.is_missing_number if kinds[name] == "number" else schema.recipe.is_missing
        assert X[name].map(is_missing).tolist() == typed[name].isna().tolist()


@pytest.mark.skipif(not FILES, reason="the tables stand beside the repository, in shared/data and shared/more_data")
def test_levels_and_classes_that_look_like_missing_values_stay():
    paths = {path.name: path for path in FILES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        credit, german = (
            Encoder(coerce=True).fit(*read(paths[n])[:2]).schema_ for n in ("credit_crx.csv", "german.csv")
        )
    assert credit.classes == ("+", "-")
    for name in ("other_parties", "other_payment_plans", "own_telephone"):
        assert "none" in german.columns[german.index(name)].levels


@pytest.mark.skipif(not FILES, reason="the tables stand beside the repository, in shared/data and shared/more_data")
@pytest.mark.parametrize(("file", "column"), [("german.csv", "credit_amount"), ("dry_bean.csv.gz", "Area")])
def test_measurements_with_many_distinct_values_are_not_identifiers(file, column):
    X, y, _ = read(next(path for path in FILES if path.name == file))
    schema = Encoder(coerce=True, identifiers="drop").fit(X, y).schema_
    assert column in schema.names

"""Messy tables, as people have them, are read as a person would read them, whatever the format of the file."""

import csv
import json
import sqlite3
import warnings
from pathlib import Path

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from tanbark import Category, Counts, Encoder
from tanbark.sources import files, sql

FOLDER = Path(__file__).parent / "messy"
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))


def cells(name):
    """Return the names of the columns of a messy table and its rows of text, read by Python's csv module."""
    encoding, delimiter = ("cp1252", ";") if name == "decimal_comma.csv" else ("utf-8", ",")
    with (FOLDER / name).open(encoding=encoding, newline="") as file:
        names, *rows = csv.reader(file, delimiter=delimiter)
    return names, rows


def text_frame(name):
    names, rows = cells(name)
    return pd.DataFrame(rows, columns=names, dtype=str)


def counts_of(source, target):
    """Return the counts of the rows of a source, and the notes about its columns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        counts = Counts.from_batches(source, target, encoder=Encoder(coerce=True, identifiers="drop"), order=1)
    return counts, [str(warning.message) for warning in caught if "Windows-1252" not in str(warning.message)]


def described(counts):
    """Return the values and the number of missing values of each column."""
    found = {}
    for u, column in enumerate(counts.schema.columns):
        if isinstance(column, Category):
            values = {"levels": list(column.levels)}
        else:
            low, high = (
                column.texts_of([value])[0] if column.is_date else value for value in (column.low, column.high)
            )
            values = {"low": low, "high": high}
        found[column.name] = {**values, "missing": int(counts.class_counts.sum() - counts.value(u).sum())}
    return found


@pytest.mark.parametrize("name", EXPECTED)
def test_a_messy_file_is_read_as_a_person_would_read_it(name):
    expected = EXPECTED[name]
    counts, notes = counts_of(files(FOLDER / name), expected["target"])
    assert described(counts) == expected["columns"]
    assert [one.name for one in counts.schema.recipe.inputs if one.kind == "ignored"] == expected["left out"]
    assert notes == expected["notes"]


def write(name, kind, folder):
    """Write the cells of a messy table as text in another format, and return a source that reads it."""
    frame = text_frame(name)
    if kind in ("duckdb", "sqlite"):
        path = folder / f"t.{kind}"
        if kind == "duckdb":
            with duckdb.connect(str(path)) as database:
                database.register("frame", pa.Table.from_pandas(frame))
                database.execute("CREATE TABLE t AS SELECT * FROM frame")
        else:
            with sqlite3.connect(path) as database:
                frame.to_sql("t", database, index=False)
            database.close()
        return sql("SELECT * FROM t", path)
    path = folder / f"t.{kind}"
    if kind == "xlsx":
        book = openpyxl.Workbook()
        for row in (frame.columns.tolist(), *frame.to_numpy().tolist()):
            book.active.append(row)
        book.save(path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))
    elif kind == "json":
        path.write_text(json.dumps(frame.to_dict("records")))
    elif kind == "parquet":
        pyarrow.parquet.write_table(pa.Table.from_pandas(frame), path)
    elif kind == "feather":
        pyarrow.feather.write_feather(pa.Table.from_pandas(frame), str(path))
    elif kind == "utf16.csv":
        frame.to_csv(path, index=False, encoding="utf-16")
    else:
        frame.to_csv(path, index=False)
    return files(path)


KINDS = ("xlsx", "parquet", "feather", "jsonl", "json", "duckdb", "sqlite", "csv.gz", "csv.zip", "utf16.csv")


@pytest.mark.filterwarnings("ignore:.*openpyxl.*")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EXPECTED)
def test_the_format_of_a_file_does_not_matter(name, kind, tmp_path):
    target = EXPECTED[name]["target"]
    expected, notes = counts_of(files(FOLDER / name), target)
    found, other_notes = counts_of(write(name, kind, tmp_path), target)
    assert found.schema.columns == expected.schema.columns
    assert [one.kind for one in found.schema.recipe.inputs] == [one.kind for one in expected.schema.recipe.inputs]
    assert (found.table == expected.table).all()
    assert other_notes == notes


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("name", EXPECTED)
def test_a_frame_of_text_is_read_as_the_file(name, library):
    target = EXPECTED[name]["target"]
    expected, notes = counts_of(files(FOLDER / name), target)
    names, rows = cells(name)
    columns = dict(zip(names, map(list, zip(*rows))))
    y = columns.pop(target)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoder = Encoder(coerce=True, identifiers="drop").fit(library(columns), y)
    assert encoder.schema_.columns == expected.schema.columns
    assert [str(warning.message) for warning in caught] == notes


def test_numbers_and_dates_with_their_own_types_are_those_in_text():
    names, rows = cells("dates.csv")
    frame = pd.DataFrame(rows, columns=names)[["signed up", "last seen", "age group", "class"]]
    typed = frame.assign(
        **{
            "signed up": pd.to_datetime(frame["signed up"]),
            "last seen": pd.to_datetime(frame["last seen"]).dt.tz_convert("America/New_York"),
        }
    )
    schemas = [Encoder(coerce=True).fit(one.drop(columns="class"), one["class"]).schema_ for one in (frame, typed)]
    assert schemas[0].columns == schemas[1].columns
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame({"few": rng.integers(0, 5, 200), "many": rng.normal(size=200).round(3)})
    y = rng.integers(0, 2, 200)
    schemas = [Encoder(coerce=True).fit(one, y).schema_ for one in (numbers, numbers.astype(str))]
    assert schemas[0].columns == schemas[1].columns

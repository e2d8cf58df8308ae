"""Counting with Dask, on threads and on two worker processes."""

import itertools
import logging
import time
import warnings

import numpy as np
import pandas as pd
import psutil
import pytest

from counts.killer import Killer
from tanbark import TAN, Category, Counts, Encoder, Number, Schema
from tanbark.counts import dask as module
from tanbark.schema.survey.column_survey import MAX_DISTINCT_NUMBERS

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

SCHEMA = Schema([Category("a", ("p", "q")), Number("b", (0.5,)), Category("c", (1, 2, 3))], ("no", "yes"), "y")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Yield the client of a cluster of two worker processes."""
    with (
        dask.config.set({"temporary-directory": str(tmp_path_factory.mktemp("dask"))}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit="1GiB",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def threads():
    """Compute with threads of this process."""
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture(scope="module")
def table():
    """Return rows with missing values, a level that is not in the schema, and an unused column."""
    rng = np.random.default_rng(0)
    rows = 3000
    a = pd.Series(rng.choice(["p", "q", "r"], rows)).mask(rng.random(rows) < 0.1)
    b = pd.Series(rng.random(rows)).mask(rng.random(rows) < 0.1)
    c = pd.Series(rng.integers(0, 4, rows), dtype="Int64").mask(rng.random(rows) < 0.1)
    return pd.DataFrame({"c": c, "extra": rng.random(rows), "y": rng.choice(["no", "yes"], rows), "a": a, "b": b})


def on_one_machine(table, schema=SCHEMA, order=2):
    """Return the counts of the rows in memory."""
    return Counts.of(schema, schema.encode(table[list(schema.names)]), schema.encode_target(table["y"]), order=order)


def partitioned(table, cuts):
    """Return a Dask data frame with partitions that end at the given rows; some may be empty."""
    bounds = [0, *sorted(cuts), len(table)]
    return dd.from_map(lambda ends: table.iloc[ends[0] : ends[1]], list(itertools.pairwise(bounds)), meta=table[:0])


def messy_table(rows=600):
    """Return text that holds amounts of money, dates, missing values, categories and an identifier."""
    return pd.DataFrame(
        {
            "id": [f"N{i}" for i in range(rows)],
            "bill": ["n/a" if i % 9 == 4 else f"${1000 + 7 * i:,}" for i in range(rows)],
            "when": [f"{i % 28 + 1}.{i % 12 + 1}.2024" for i in range(rows)],
            "state": [("-", "ok", "N/A")[i % 3] for i in range(rows)],
            "y": [("no", "yes")[i % 5 % 2] for i in range(rows)],
        }
    )


@pytest.mark.usefixtures("threads")
def test_text_is_read_as_on_one_machine():
    table, encoder = messy_table(), Encoder(coerce=True, identifiers="drop")
    with pytest.warns(UserWarning, match="column 'id' looks like an identifier"):
        expected = encoder.fit(table.drop(columns="y"), table["y"]).schema_
    with pytest.warns(UserWarning, match="column 'id' looks like an identifier"):
        found = module.count(partitioned(table, [100, 101, 480]), target="y", encoder=encoder)
    assert [one.kind for one in found.schema.recipe.inputs] == ["ignored", "number", "date", "category"]
    assert found.schema == expected
    names = list(expected.input_names)
    assert found == Counts.of(expected, expected.encode(table[names]), expected.encode_target(table["y"]))


def unreadable_table(share):
    """Return numbers in text, of which the last ones cannot be read."""
    rows = 1000
    words = round(rows * share)
    bill = [*(str(i / 4) for i in range(rows - words)), *["n.k."] * words]
    return pd.DataFrame({"bill": bill, "y": ["no", "yes"] * (rows // 2)})


@pytest.mark.usefixtures("threads")
def test_unreadable_values_are_judged_over_all_partitions():
    table, encoder = unreadable_table(0.06), Encoder(coerce=True)
    cuts = list(range(0, 1000, 50))
    with pytest.warns(UserWarning, match="60 of 1,000 values were not") as caught:
        found = module.count(partitioned(table, cuts), target="y", encoder=encoder)
    assert len(caught) == 1
    with pytest.warns(UserWarning, match="expected numbers, but 60 of 1,000 values are not"):
        assert module.count(partitioned(table, cuts), target="y", schema=found.schema) == found
    with pytest.raises(ValueError, match="expected numbers, but 600 of 1,000 values are not"):
        module.count(partitioned(unreadable_table(0.6), cuts), target="y", schema=found.schema)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.usefixtures("threads")
def test_counts_equal_those_of_one_machine_for_any_partitions(table, order):
    rng = np.random.default_rng(order)
    expected = on_one_machine(table, order=order)
    for parts in (1, 2, 8, 9, 70):
        df = partitioned(table, rng.integers(0, len(table) + 1, parts - 1).tolist())
        assert module.count(df, "y", schema=SCHEMA, order=order) == expected


@pytest.mark.usefixtures("threads")
def test_chunked_text_is_counted(table, tmp_path):
    for part in range(3):
        table[part * 1000 : part * 1000 + 1000].to_parquet(tmp_path / f"{part}.parquet", row_group_size=300)
    assert module.count(dd.read_parquet(tmp_path), "y", schema=SCHEMA) == on_one_machine(table)
    df = dd.from_map(lambda _: pd.concat([table[:7], table[7:]]).convert_dtypes(dtype_backend="pyarrow"), [0])
    assert module.count(df, "y", schema=SCHEMA) == on_one_machine(table)


@pytest.mark.usefixtures("threads")
def test_empty_partitions_and_no_rows_are_fine(table):
    assert module.count(partitioned(table, [0, 0, 7, 7]), "y", schema=SCHEMA) == on_one_machine(table)
    assert module.count(partitioned(table[:0], [0]), "y", schema=SCHEMA) == Counts.zero(SCHEMA)


@pytest.mark.usefixtures("client")
def test_rows_without_a_class_are_dropped_with_one_warning(table):
    unlabelled = table.assign(y=table["y"].mask(np.arange(len(table)) % 3 == 0))
    with pytest.warns(UserWarning, match="^1,000 rows without a class are dropped$") as caught:
        counts = module.count(partitioned(unlabelled, [500, 501, 2000]), "y", schema=SCHEMA)
    assert len(caught) == 1
    assert counts == on_one_machine(unlabelled[unlabelled["y"].notna()])


@pytest.mark.usefixtures("client")
def test_an_unknown_class_raises_a_plain_error(table):
    with pytest.raises(ValueError, match=r"^unknown class 'yes'; the known classes are 'no'$"):
        module.count(partitioned(table, [1000]), "y", schema=Schema(SCHEMA.columns, ("no",), "y"))


def test_a_column_of_python_objects_is_refused(table):
    with dask.config.set({"dataframe.convert-string": False}):
        df = dd.from_pandas(table.astype({"a": object}), npartitions=2)
        with pytest.raises(TypeError, match="column 'a' holds Python objects; convert it to text or numbers"):
            module.count(df, "y", schema=SCHEMA)


def test_other_data_than_a_dask_data_frame_is_refused(table):
    with pytest.raises(TypeError, match=r"Dask data frame \(pip install 'tanbark\[dask\]'\), got 'DataFrame'"):
        module.count(table, "y")
    with pytest.raises(TypeError, match=r"Dask data frame .*, got 'Series'"):
        module.count(dd.from_pandas(table, npartitions=2)["y"], "y")


@pytest.mark.usefixtures("threads")
def test_data_that_change_between_passes_raise(table):
    lengths = iter([3000, 2000])
    df = dd.from_map(lambda _: table[: next(lengths)], [0], meta=table[:0])
    with pytest.raises(ValueError, match="the first pass read 3,000 rows, but a later pass read 2,000"):
        module.count(df, "y")


def test_arguments_of_the_wrong_type_raise(table):
    df = dd.from_pandas(table, npartitions=2)
    with pytest.raises(TypeError, match=r"ignore must be a list of column names, got 'extra'; write \['extra'\]"):
        module.count(df, "y", ignore="extra")
    with pytest.raises(TypeError, match=r"schema must be a tanbark\.Schema, got a builtins\.dict"):
        module.count(df, "y", schema={"a": "text"})


@pytest.mark.parametrize("encoder", [None, Encoder(bins="mdlp", missing="state", max_levels=2)])
@pytest.mark.parametrize("parts", [1, 5, 20])
@pytest.mark.usefixtures("threads")
def test_the_schema_equals_that_of_one_machine(table, encoder, parts):
    table = table.assign(k=pd.Categorical(table["a"].fillna("p"), ["z", "r", "q", "p"]))
    attributes = table.drop(columns=["extra", "y"])
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        schema = (encoder or Encoder()).fit(attributes, table["y"]).schema_
    df = partitioned(table, np.random.default_rng(parts).integers(0, len(table), parts - 1).tolist())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        counts = module.count(df, "y", encoder=encoder, ignore=["extra"])
    assert counts.schema == schema
    assert counts == on_one_machine(table, schema)
    assert {str(w.message) for w in caught} == {str(w.message) for w in expected}
    assert TAN().fit_counts(counts).network_.parents == TAN(encoder=schema).fit(attributes, table["y"]).network_.parents


@pytest.mark.usefixtures("client")
def test_cut_points_that_need_several_passes_equal_those_of_one_machine():
    rng = np.random.default_rng(1)
    rows = 70_000
    assert rows > MAX_DISTINCT_NUMBERS
    table = pd.DataFrame({"x": rng.normal(size=rows), "y": rng.integers(0, 2, rows)})
    counts = module.count(dd.from_pandas(table, npartitions=3), "y")
    assert counts.schema == Encoder().fit(table[["x"]], table["y"]).schema_
    assert counts == on_one_machine(table, counts.schema)


@pytest.mark.usefixtures("threads")
def test_levels_of_unknown_categories_are_those_that_occur(table):
    df = dd.from_pandas(table[["a", "y"]], npartitions=4)
    df = df.assign(a=df["a"].astype("category"))
    assert not df["a"].cat.known
    assert module.count(df, "y").schema.columns == (Category("a", ("p", "q", "r")),)


@pytest.mark.usefixtures("threads")
def test_invalid_columns_and_arguments_raise_before_any_row_is_read(table):
    def broken(_):
        raise AssertionError("a row was read")

    table = table.assign(day=pd.Timestamp("2026-01-01"))

    def count(meta, target="y", **given):
        return module.count(dd.from_map(broken, [0, 1], meta=meta[:0]), target, **given)

    with pytest.raises(ValueError, match="no column 'nought'"):
        count(table, "nought")
    with pytest.raises(ValueError, match="order must be 1"):
        count(table, order=3)
    with pytest.raises(ValueError, match="lack the column 'a'"):
        count(table.drop(columns="a"), schema=SCHEMA)
    with pytest.raises(TypeError, match="column 'day' holds dates"):
        count(table, encoder=Encoder(dates="error"))
    with pytest.raises(TypeError, match="column names must be strings, got 7"):
        count(table.rename(columns={"a": 7}))


@pytest.mark.usefixtures("client")
def test_a_killed_worker_does_not_change_the_counts(table, tmp_path, caplog):
    def slowly(ends):
        import os
        import time
        import uuid

        (tmp_path / f"{os.getpid()}-{uuid.uuid4()}").touch()
        time.sleep(0.2)
        return table.iloc[ends[0] : ends[1]]

    parts = 16
    df = dd.from_map(slowly, list(itertools.pairwise(np.linspace(0, len(table), parts + 1, dtype=int))), meta=table[:0])
    killer = Killer(tmp_path, 3)
    with caplog.at_level(logging.INFO, logger="distributed"):
        killer.start()
        counts = module.count(df, "y", schema=SCHEMA)
        killer.join()
        until = time.monotonic() + 30
        while "signal 9" not in caplog.text and time.monotonic() < until:
            time.sleep(0.05)
    assert counts == on_one_machine(table)
    assert len(killer.begun()) > parts
    assert not psutil.pid_exists(killer.killed[0])
    assert f"Worker process {killer.killed[0]} was killed by signal 9" in caplog.text

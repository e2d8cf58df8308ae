"""Rows that are counted as they go by give the model that they give in memory."""

import re
import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import tanbark
from tanbark.cli.input import fit_from_rows as learning
from tanbark.cli.output.printed_text import without_password


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """A model that takes long to learn, as the first after an installation does, is not cross-validated unasked."""
    tanbark.TAN().fit([["a", 0.5], ["b", 1.5], [None, 2.5]] * 10, ["x", "y", "x"] * 10)


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    sky = pa.array([None if v == 3 else ("sun", "rain", "fog")[v] for v in rng.integers(0, 4, 3000)])
    walk = pa.array([None if v == 9 else ("no", "yes")[v % 2] for v in rng.integers(0, 10, 3000)])
    columns = {
        "sky": sky,
        "wind": rng.integers(0, 40, 3000),
        "degrees": rng.normal(size=3000),
        "few": rng.integers(0, 4, 3000),
    }
    return pa.table(columns | {"walk": walk})


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arff", "t.jsonl"])
@pytest.mark.parametrize("options", [(), ("--categorical", "wind", "--ignore", "few"), ("--bins", "mdlp")])
def test_a_streamed_table_gives_the_same_model(write, run, mixed, tmp_path, monkeypatch, name, options):
    if name == "t.arff":
        mixed = mixed.set_column(4, "walk", mixed["walk"].fill_null("no"))
    write(mixed, tmp_path / name)
    kept = run("fit", name, "--target", "walk", "--model", "tan", "-o", "kept.tanbark", *options)
    monkeypatch.setattr(learning, "MAX_BYTES_IN_MEMORY", 1)
    streamed = run("fit", name, "--target", "walk", "--model", "tan", "-o", "streamed.tanbark", *options)
    assert (tmp_path / "kept.tanbark").read_bytes() == (tmp_path / "streamed.tanbark").read_bytes()
    assert "Not cross-validated because the table is large; use --cv 5 to do it." in streamed.stdout
    assert "5-fold cross-validation" in kept.stdout
    above = re.split("Not cross-validated|accuracy", kept.stdout)[0].strip()
    assert above.splitlines() == re.split("Not cross-validated", streamed.stdout)[0].strip().splitlines()


def test_a_large_table_gets_a_tree_unless_a_model_was_chosen(write, run, mixed, tmp_path, monkeypatch):
    write(mixed, tmp_path / "t.parquet")
    monkeypatch.setattr(learning, "MAX_BYTES_IN_MEMORY", 1)
    said = run("fit", "t.parquet", "--target", "walk", "--ess", 3).stdout
    assert "note: the table is larger than 0 MiB, so it was streamed and the model is tan; use --model evid" in said
    assert "--best" not in said
    model = tanbark.load("t.tanbark")
    assert isinstance(model, tanbark.TAN)
    assert model.ess == 3
    for options in (["--model", "evidence-bn", "--cv", 0], ["--set", "depth=1", "--cv", 0], ["--cv", 2]):
        said = run("fit", "t.parquet", "--target", "walk", *options).stdout
        assert "was streamed" not in said
        assert isinstance(tanbark.load("t.tanbark"), tanbark.EvidenceBN)


def test_files_that_turn_out_to_be_large_are_streamed(write, run, mixed, tmp_path, monkeypatch):
    write(mixed, tmp_path / "t.parquet")
    monkeypatch.setattr(learning, "_is_large", lambda source: False)
    monkeypatch.setattr(learning, "MAX_BYTES_IN_MEMORY", 1000)
    assert "because the table is large" in run("fit", "t.parquet", "--target", "walk").stdout


def test_a_model_that_needs_rows_keeps_them_in_memory(write, run, mixed, tmp_path, monkeypatch):
    write(mixed, tmp_path / "t.parquet")
    monkeypatch.setattr(learning, "MAX_BYTES_IN_MEMORY", 1)
    run("fit", "t.parquet", "--target", "walk", "--model", "kdb", "--cv", "0")


def test_asking_for_cross_validation_keeps_the_rows_in_memory(write, run, mixed, tmp_path, monkeypatch):
    write(mixed, tmp_path / "t.parquet")
    monkeypatch.setattr(learning, "MAX_BYTES_IN_MEMORY", 1)
    assert "3-fold cross-validation" in run("fit", "t.parquet", "--target", "walk", "--cv", "3").stdout


def test_a_column_that_numbers_the_rows_is_noted_in_a_stream_too(write, run, mixed, tmp_path, monkeypatch):
    write(mixed.append_column("id", pa.array(range(3000))), tmp_path / "t.parquet")
    monkeypatch.setattr(learning, "MAX_BYTES_IN_MEMORY", 1)
    said = run("fit", "t.parquet", "--target", "walk").stdout
    assert "note: column 'id' numbers the rows: left out; keep it with --keep id" in said


def test_it_is_noted_where_the_first_and_the_last_rows_have_no_class(write, run, mixed, tmp_path, monkeypatch):
    walk = pa.array([None] * 5 + ["no", "yes"] * 1490 + [None] * 15)
    write(mixed.set_column(4, "walk", walk).append_column("id", pa.array(range(3000))), tmp_path / "t.parquet")
    monkeypatch.setattr(learning, "MAX_BYTES_IN_MEMORY", 1)
    said = run("fit", "t.parquet", "--target", "walk").stdout
    assert "note: column 'id' numbers the rows: left out; keep it with --keep id" in said
    assert said.count("numbers the rows") == 1


def test_dates_are_the_same_in_a_stream_as_in_memory(write, run, mixed, tmp_path, monkeypatch):
    days = pa.array([i % 400 for i in range(3000)], pa.date32())
    write(
        mixed.append_column("day", days).append_column("always", pa.array([7] * 3000, pa.date32())),
        tmp_path / "t.parquet",
    )
    run("fit", "t.parquet", "--target", "walk", "--model", "tan", "--cv", 0, "-o", "whole.tanbark")
    monkeypatch.setattr(learning, "MAX_BYTES_IN_MEMORY", 1)
    run("fit", "t.parquet", "--target", "walk", "--model", "tan", "-o", "streamed.tanbark")
    whole, streamed = tanbark.load("whole.tanbark"), tanbark.load("streamed.tanbark")
    assert streamed.schema_ == whole.schema_
    assert "day (month)" in streamed.schema_.names
    assert "always (month)" not in streamed.schema_.names


def test_a_column_of_dates_can_be_categories(run, tmp_path):
    (tmp_path / "t.csv").write_text("day,sky,walk\n" + "2020-01-01,sun,yes\n2020-01-02,fog,no\n" * 20)
    run("fit", "t.csv", "--target", "walk", "--categorical", "day")
    assert tanbark.load("t.tanbark").schema_.columns[0].levels == ("2020-01-01", "2020-01-02")


@pytest.mark.parametrize("values", [[[1], [2]], [{"u": 1}, {"u": 2}], [b"a", b"b"]])
def test_a_column_of_lists_structures_or_bytes_can_be_left_out(write, run, tmp_path, values):
    write(
        pa.table({"odd": values * 10, "sky": ["sun", "fog"] * 10, "walk": ["no", "yes"] * 10}), tmp_path / "t.parquet"
    )
    said = run("fit", "t.parquet", "--target", "walk", code=1).stderr
    assert "column 'odd'" in said
    assert said.endswith("; leave it out with --ignore\n")
    run("fit", "t.parquet", "--target", "walk", "--ignore", "odd")


def test_columns_that_only_folders_name_are_noted(write, run, mixed, tmp_path):
    for year in (2020, 2021):
        (tmp_path / f"year={year}").mkdir()
        write(mixed, tmp_path / f"year={year}" / "part.parquet")
    said = run("fit", "year=*/part.parquet", "--target", "walk", "--cv", "0").stdout
    assert "note: folder names are not read as columns: 'year'; add them to the files" in said


@pytest.mark.parametrize("words", [("fit",), ("predict", "m.tanbark"), ("update", "m.tanbark")])
def test_a_query_or_a_database_without_the_option_is_told_of_it(run, tmp_path, words):
    sqlite3.connect(tmp_path / "a.db").execute("CREATE TABLE t (a TEXT)").connection.close()
    assert "a.db is a database; give an SQL query as DATA and use --database a.db" in run(*words, "a.db", code=1).stderr
    assert "if it is an SQL query, name the database with --database" in run(*words, "select * from t", code=1).stderr


def test_what_means_missing_in_arff_is_named_by_the_option(run, tmp_path):
    (tmp_path / "t.arff").write_text("@relation r\n@attribute a numeric\n@attribute class {x}\n@data\nhigh,x\n")
    said = run("fit", "t.arff", code=1).stderr
    assert said.endswith("holds 'high'; if this means missing, declare it with --missing\n")


def test_a_query_is_learned_from_and_predicted(run, mixed, tmp_path):
    with sqlite3.connect(tmp_path / "walks.db") as database:
        database.execute("CREATE TABLE walks (sky TEXT, wind INTEGER, degrees REAL, few INTEGER, walk TEXT)")
        database.executemany("INSERT INTO walks VALUES (?, ?, ?, ?, ?)", [tuple(r.values()) for r in mixed.to_pylist()])
    database.close()
    query = "SELECT * FROM walks WHERE walk IS NOT NULL"
    said = run("fit", query, "--database", "walks.db", "-t", "walk", "-m", "tan", "-o", "m.tanbark").stdout
    assert "the query: 2,7" in said
    assert "tanbark predict m.tanbark 'SELECT * FROM walks WHERE walk IS NOT NULL' --database walks.db" in said
    known = mixed.filter(mixed["walk"].is_valid())
    expected = tanbark.TAN().fit(known.drop_columns(["walk"]), known["walk"])
    assert tanbark.load(tmp_path / "m.tanbark").counts_.table.sum() == expected.counts_.table.sum()
    run("predict", "m.tanbark", query, "--database", "walks.db", "-o", "out.parquet")
    import pyarrow.parquet

    out = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    np.testing.assert_allclose(
        np.column_stack([out["p(no)"], out["p(yes)"]]), expected.predict_proba(known.drop_columns(["walk"])), atol=1e-12
    )


@pytest.mark.parametrize("options", [(), ("--categorical", "a")])
def test_a_query_whose_rows_change_while_it_is_read_is_not_learned_from(run, tmp_path, monkeypatch, options):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as database:
        database.execute(
            "CREATE TABLE t AS SELECT range % 3 AS a, range % 5 AS b, range % 2 AS class FROM range(1000000)"
        )
    monkeypatch.setattr(learning, "MAX_BYTES_IN_MEMORY", 1)
    said = run("fit", "SELECT * FROM t WHERE random() < 0.5", "--database", "a.duckdb", *options, code=1).stderr
    assert re.search(
        r"the first pass read [45]\d\d,\d{3} rows, but a later pass read [45]\d\d,\d{3}; write the rows to", said
    )
    assert not (tmp_path / "query.tanbark").exists()


def test_the_name_of_a_model_from_a_query_is_query(run, tmp_path):
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("CREATE TABLE t (a TEXT, class TEXT)")
        database.execute("INSERT INTO t VALUES ('x', 'p'), ('y', 'n')")
    database.close()
    run("fit", "SELECT * FROM t", "--database", "a.db")
    assert (tmp_path / "query.tanbark").exists()
    assert "the query has no rows" in run("fit", "SELECT * FROM t WHERE a = 'z'", "--database", "a.db", code=1).stderr


@pytest.mark.parametrize(
    ("query", "database", "message"),
    [
        ("SELECT 1", "gone.db", "there is no database file gone.db"),
        ("SELECT 1", "mysql://x/y", "unsupported database mysql://"),
        ("", "t.csv", "the query is empty"),
        ("SELECT 1", "t.csv", "t.csv is neither a DuckDB nor an SQLite file"),
    ],
)
def test_a_database_that_cannot_be_read_gets_one_sentence(run, tmp_path, query, database, message):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert message in run("fit", query, "--database", database, code=1).stderr


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ann:secret@here/clinic", "postgresql://ann@here/clinic"),
        ("postgresql://here:5432/clinic?user=ann&password=secret", "postgresql://here:5432/clinic?user=ann"),
        ("postgresql:///clinic?sslpassword=secret", "postgresql:///clinic"),
        ("a:b@c/password=d.db", "a:b@c/password=d.db"),
    ],
)
def test_the_address_of_a_database_is_printed_without_its_password(address, shown):
    assert without_password(address) == shown


@pytest.mark.parametrize("options", [("--weight", "few"), ("--class-weight", "yes=2"), ("--class-weight", "balanced")])
def test_weights_are_not_streamed_but_read_into_memory_if_a_model_is_chosen(
    write, run, mixed, tmp_path, monkeypatch, options
):
    write(mixed, tmp_path / "t.parquet")
    run("fit", "t.parquet", "--target", "walk", "--model", "tan", "-o", "kept.tanbark", *options)
    monkeypatch.setattr(learning, "MAX_BYTES_IN_MEMORY", 1)
    refused = run("fit", "t.parquet", "--target", "walk", "-o", "refused.tanbark", *options, code=1).stderr
    assert "but weights need all of its rows in memory; choose the model to read them, for example" in refused
    assert not (tmp_path / "refused.tanbark").exists()
    run("fit", "t.parquet", "--target", "walk", "--model", "tan", "-o", "again.tanbark", *options)
    assert (tmp_path / "kept.tanbark").read_bytes() == (tmp_path / "again.tanbark").read_bytes()


def test_a_class_prior_by_label_holds_for_a_streamed_table(write, run, mixed, tmp_path, monkeypatch):
    write(mixed, tmp_path / "t.parquet")
    monkeypatch.setattr(learning, "MAX_BYTES_IN_MEMORY", 1)
    run("fit", "t.parquet", "--target", "walk", "-m", "tan", "--set", 'class_prior={"yes": 0.25, "no": 0.75}')
    model = tanbark.load("t.tanbark")
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [0.75, 0.25])

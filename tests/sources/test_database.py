import datetime
import os
import signal
import sqlite3
import sys
import threading
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

from tanbark import Counts, Encoder
from tanbark.sources import SourceError, sql

NAMES = ["label", "whole", "measured", "exact", "flag"]
ROWS = [(None,) * 5] * 1500 + [
    ("a", 1, 0.5, Decimal("0.1"), True),
    ("b", 2**40, -1e300, Decimal("-12.345"), False),
] * 1500
AS_ARROW = [
    dict(zip(NAMES, (label, whole, measured, exact and float(exact), flag), strict=True))
    for label, whole, measured, exact, flag in ROWS
]
TABLE = "CREATE TABLE t (label TEXT, whole BIGINT, measured DOUBLE PRECISION, exact NUMERIC(12, 3), flag BOOLEAN)"


def plain(source):
    """Return the rows with decimals rounded to the nearest floats."""
    rows = pa.table(source).to_pylist()
    return [{k: float(v) if isinstance(v, Decimal) else v for k, v in row.items()} for row in rows]


@pytest.fixture
def duck_file(tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(TABLE)
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", ROWS[1490:1510])
    return tmp_path / "t.duckdb"


@pytest.fixture
def sqlite_file(tmp_path):
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.execute(TABLE)
    rows = [(*row[:3], row[3] and float(row[3]), row[4]) for row in ROWS]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return tmp_path / "t.db"


@pytest.fixture(scope="session")
def postgres_table(postgres):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute(TABLE)
        cursor.execute("CREATE TYPE mood AS ENUM ('sad', 'fine')")
        cursor.execute("CREATE TABLE more (small SMALLINT, half REAL, fixed CHAR(2), mood mood, day DATE, id UUID)")
        cursor.execute("INSERT INTO more VALUES (1, 0.25, 'ab', 'fine', '2020-02-29', gen_random_uuid())")
        cursor.execute("INSERT INTO more (small) VALUES (NULL)")
        for label, whole, measured, exact, flag in ROWS[1500:1502]:
            values = f"'{label}', {whole}, {measured}, {exact}, {flag}"
            cursor.execute(f"INSERT INTO t SELECT NULL, NULL, NULL, NULL, NULL FROM generate_series(1, {750})")
            cursor.execute(f"INSERT INTO t SELECT {values} FROM generate_series(1, 1500)")
        connection.commit()
    return postgres


def by_key(rows):
    return sorted(rows, key=lambda row: [(v is not None, str(v)) for v in row.values()])


def test_a_query_to_a_duckdb_file_streams_its_types(duck_file):
    source = sql("SELECT * FROM t;", duck_file)
    assert plain(source) == AS_ARROW[1490:1510]
    assert plain(source) == AS_ARROW[1490:1510]
    assert plain(sql("SELECT * FROM t", f"duckdb:///{duck_file}")) == AS_ARROW[1490:1510]
    assert pa.Table.from_batches(source.batches(["flag", "label"])).column_names == ["flag", "label"]


def test_a_query_to_an_sqlite_file_streams_its_types(sqlite_file):
    source = sql("SELECT * FROM t", sqlite_file)
    assert source.schema.types == [pa.string(), pa.int64(), pa.float64(), pa.float64(), pa.int64()]
    assert plain(source) == AS_ARROW
    assert plain(source) == AS_ARROW
    assert plain(sql("SELECT * FROM t", f"sqlite:///{sqlite_file}")) == AS_ARROW
    assert pa.Table.from_batches(source.batches(["flag", "label"])).column_names == ["flag", "label"]


def test_an_sqlite_column_with_mixed_types_has_the_widest_type(tmp_path):
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.execute("CREATE TABLE t (a, b, c)")
    rows = [(1, 1, None)] * 2000 + [(2.5, "x", None)]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    connection.commit()
    source = sql("SELECT * FROM t", tmp_path / "t.db")
    assert source.schema.types == [pa.float64(), pa.string(), pa.int64()]
    assert pa.table(source).to_pylist()[-2:] == [{"a": 1.0, "b": "1", "c": None}, {"a": 2.5, "b": "x", "c": None}]
    connection.execute("INSERT INTO t VALUES (1, 1, x'00')")
    connection.commit()
    connection.close()
    with pytest.raises(SourceError, match="column 'c' of the query holds bytes"):
        sql("SELECT * FROM t", tmp_path / "t.db").schema  # noqa: B018


def test_a_query_to_postgresql_streams_its_types(postgres_table):
    source = sql("SELECT * FROM t", postgres_table)
    assert source.schema.types == [pa.string(), pa.int64(), pa.float64(), pa.float64(), pa.bool_()]
    assert by_key(plain(source)) == by_key(AS_ARROW)
    assert by_key(plain(source)) == by_key(AS_ARROW)
    assert pa.Table.from_batches(source.batches(["flag", "label"])).column_names == ["flag", "label"]


def test_other_postgresql_types_become_numbers_text_or_dates(postgres_table):
    full, empty = pa.table(sql("SELECT * FROM more ORDER BY small", postgres_table)).to_pylist()
    assert len(full.pop("id")) == 36
    assert full == {"small": 1, "half": 0.25, "fixed": "ab", "mood": "fine", "day": datetime.date(2020, 2, 29)}
    assert set(empty.values()) == {None}


@pytest.mark.parametrize("kind", ["duckdb", "sqlite", "postgresql"])
def test_counts_of_a_query_are_those_of_the_table(request, kind):
    database = request.getfixturevalue(
        {"duckdb": "duck_file", "sqlite": "sqlite_file", "postgresql": "postgres_table"}[kind]
    )
    rows = AS_ARROW[1490:1510] if kind == "duckdb" else AS_ARROW
    if kind == "sqlite":
        rows = [row | {"flag": row["flag"] if row["flag"] is None else int(row["flag"])} for row in rows]
    with pytest.warns(UserWarning, match="rows without a class are dropped"):
        found = Counts.from_batches(sql("SELECT * FROM t", database), "label")
    with pytest.warns(UserWarning, match="rows without a class are dropped"):
        expected = Counts.from_batches(pa.Table.from_pylist(rows), "label", encoder=Encoder(coerce=True))
    assert found == expected


@pytest.mark.parametrize("kind", ["duckdb", "sqlite", "postgresql"])
def test_a_query_that_fails_raises_with_a_one_line_message(request, kind):
    database = request.getfixturevalue(
        {"duckdb": "duck_file", "sqlite": "sqlite_file", "postgresql": "postgres_table"}[kind]
    )
    for query in ("SELECT nothing FROM t", "SELECT * FROM gone"):
        with pytest.raises(SourceError, match=r"^the query cannot be run: [^\n]*$"):
            sql(query, database).schema  # noqa: B018
    with pytest.raises(SourceError, match=r"^the query must be one SELECT statement, got 'SELEC'$"):
        sql("SELEC", database)
    with pytest.raises(SourceError, match="the query has two columns named 'label'"):
        sql("SELECT label, label FROM t", database).schema  # noqa: B018


@pytest.mark.parametrize("kind", ["duckdb", "sqlite", "postgresql"])
def test_a_query_may_end_in_a_comment_but_not_in_another_query(request, kind):
    database = request.getfixturevalue(
        {"duckdb": "duck_file", "sqlite": "sqlite_file", "postgresql": "postgres_table"}[kind]
    )
    source = sql("SELECT DISTINCT label AS a FROM t WHERE label = 'a' -- the first", database)
    assert pa.table(source).to_pylist() == [{"a": "a"}]
    assert pa.Table.from_batches(source.as_written().select(["c0"])).to_pylist() == [{"0": "a"}]
    with pytest.raises(SourceError, match=r"^the query [^\n]*$"):
        pa.table(sql("SELECT 1 AS a; SELECT 2 AS a", database))


def test_numbers_among_text_in_sqlite_keep_their_digits(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.executemany("INSERT INTO t VALUES (?)", [(0.5,), (123456789.125,), (2**53 + 1,), ("x",), (None,)])
    connection.close()
    read = pa.table(sql("SELECT * FROM t", tmp_path / "t.db"))
    assert read["a"].to_pylist() == ["0.5", "123456789.125", "9007199254740993", "x", None]


def test_a_query_to_sqlite_may_have_as_many_columns_as_a_table(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(f'c{i}' for i in range(2000))})")
        connection.execute(f"INSERT INTO t VALUES ({', '.join(map(str, range(2000)))})")
    connection.close()
    assert pa.table(sql("SELECT * FROM t", tmp_path / "t.db")).to_pylist() == [{f"c{i}": i for i in range(2000)}]


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("duckdb", "SELECT count(*) AS a FROM range(1000000) AS x, range(30000) AS y WHERE x.range % 7 <> y.range"),
        ("sqlite", "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000000) SELECT max(i) AS a FROM n"),
        ("postgresql", "SELECT 1 AS a FROM pg_sleep(30)"),
    ],
)
def test_an_interrupt_stops_a_query_before_its_first_row(request, kind, query):
    database = request.getfixturevalue(
        {"duckdb": "duck_file", "sqlite": "sqlite_file", "postgresql": "postgres_table"}[kind]
    )
    source = sql(query, database)
    interrupt = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        list(source.batches())
    interrupt.join()


def test_a_database_is_opened_read_only(duck_file, sqlite_file):
    for path in (duck_file, sqlite_file):
        before = path.read_bytes()
        with pytest.raises(SourceError):
            list(sql("INSERT INTO t (label) VALUES ('x')", path).batches())
        assert path.read_bytes() == before


NOT_ONE_SELECT = [
    "COPY t TO 'copied.csv'",
    "COPY (SELECT * FROM t) TO 'copied.csv'",
    "INSERT INTO t (label) VALUES ('x')",
    "UPDATE t SET label = 'x'",
    "DELETE FROM t",
    "DROP TABLE t",
    "CREATE TABLE more (a INTEGER)",
    "ATTACH 'attached.db' AS other",
    "PRAGMA table_info('t')",
    "SET threads = 1",
    "CALL pragma_version()",
    "EXPLAIN ANALYZE DELETE FROM t",
    "VACUUM",
    "-- SELECT\nDELETE FROM t",
    "/* SELECT */ DELETE FROM t",
    "(DELETE FROM t)",
]


@pytest.mark.parametrize("query", NOT_ONE_SELECT)
@pytest.mark.parametrize("kind", ["duckdb", "sqlite", "postgresql"])
def test_a_statement_that_is_not_a_select_is_refused_before_the_database_is_asked(request, kind, query):
    # There is no server at this address.
    database = (
        "postgresql:///x?host=/nowhere"
        if kind == "postgresql"
        else request.getfixturevalue({"duckdb": "duck_file", "sqlite": "sqlite_file"}[kind])
    )
    with pytest.raises(SourceError, match=r"^the query must be one SELECT statement, got [^\n]*$"):
        sql(query, database)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 AS a; SELECT 2 AS a",
        "SELECT 1 AS a; DELETE FROM t",
        "SELECT 1 AS a; DROP TABLE t; SELECT 2 AS a",
        "SELECT 1 AS a) AS x; DELETE FROM t; SELECT * FROM (SELECT 1 AS a",
        "WITH x AS (SELECT 1) DELETE FROM t",
        "WITH x AS (SELECT 'x') INSERT INTO t (label) SELECT * FROM x",
        "WITH gone AS (DELETE FROM t RETURNING label) SELECT * FROM gone",
        "SELECT * INTO copied FROM t",
    ],
)
@pytest.mark.parametrize("kind", ["duckdb", "sqlite", "postgresql"])
def test_a_query_that_does_more_than_select_changes_nothing(request, tmp_path, monkeypatch, kind, query):
    monkeypatch.chdir(tmp_path)
    database = request.getfixturevalue(
        {"duckdb": "duck_file", "sqlite": "sqlite_file", "postgresql": "postgres_table"}[kind]
    )
    before = sorted(map(str, tmp_path.iterdir()))
    rows = pa.table(sql("SELECT count(*) AS n FROM t", database)).to_pylist()
    for read in (
        lambda source: source.schema,
        lambda source: list(source.batches()),
        lambda source: source.as_written(),
    ):
        with pytest.raises(SourceError, match=r"^the query [^\n]*$"):
            read(sql(query, database))
    assert pa.table(sql("SELECT count(*) AS n FROM t", database)).to_pylist() == rows
    assert sorted(map(str, tmp_path.iterdir())) == before


def test_a_database_in_a_folder_called_tilde_is_not_that_of_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder, value in (("home", 1), ("~", 2)):
        (tmp_path / folder).mkdir()
        with duckdb.connect(str(tmp_path / folder / "t.duckdb")) as connection:
            connection.execute(f"CREATE TABLE t AS SELECT {value} AS a")
        with sqlite3.connect(tmp_path / folder / "t.db") as connection:
            connection.execute(f"CREATE TABLE t AS SELECT {value} AS a")
        connection.close()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("~/t.duckdb", "~/t.db"):
        assert pa.table(sql("SELECT * FROM t", name)).to_pylist() == [{"a": 2}]


@pytest.mark.skipif(os.name == "nt", reason="a colon is not allowed in names")
def test_the_name_of_a_database_file_has_no_other_meaning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "md:t", "a b?c#d%20.db"):
        with duckdb.connect(str(tmp_path / "new.duckdb")) as connection:
            connection.execute("CREATE TABLE t AS SELECT 1 AS a")
        (tmp_path / "new.duckdb").rename(tmp_path / name)
        assert pa.table(sql("SELECT * FROM t", name)).to_pylist() == [{"a": 1}]


def test_an_unreachable_server_raises(tmp_path):
    with pytest.raises(SourceError, match=r"the query cannot be run: .*connect"):
        sql("SELECT 1", f"postgresql:///x?host={tmp_path}").schema  # noqa: B018


@pytest.mark.parametrize("driver", ["sqlite", "postgresql"])
def test_a_missing_driver_raises_and_is_named(monkeypatch, sqlite_file, driver):
    monkeypatch.setitem(sys.modules, f"adbc_driver_{driver}", None)
    database = sqlite_file if driver == "sqlite" else "postgresql:///x"
    with pytest.raises(SourceError, match=rf"pip install 'tanbark\[{driver}\]'"):
        sql("SELECT 1", database).schema  # noqa: B018


@pytest.mark.parametrize(
    ("query", "database", "message"),
    [
        (" ; ", "t.db", "the query is empty"),
        ("SELECT 1", "gone.db", "there is no database file gone.db"),
        ("SELECT 1", "mysql://here/there", "unsupported database mysql://"),
        ("SELECT 1", __file__, "is neither a DuckDB nor an SQLite file"),
    ],
)
def test_an_invalid_database_raises_and_is_named(query, database, message):
    with pytest.raises(SourceError, match=message):
        sql(query, database)

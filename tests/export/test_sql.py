"""DuckDB, SQLite and PostgreSQL compute the same predictions as Python from an exported statement."""

import itertools
import sqlite3
import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest

from tanbark import KDB, TAN, Category, Encoder, EvidenceBN, NaiveBayes, Network, Number, Schema, export
from tanbark.classifiers.registry import REGISTRY
from tanbark.datasets import lenses
from tanbark.export import sql
from tanbark.network import Structure

EXPORTED = ("evidence-bn", "naive-bayes", "tan", "forest-an", "super-parent")
DATABASES = ("duckdb", "sqlite", "postgresql")
NAMES = ('it\'s "x"', "two\nlines", "select", "日本 --", "k0")
TYPES = ("VARCHAR", "DOUBLE PRECISION", "BIGINT", "BOOLEAN", "VARCHAR")
LEVELS = np.array(["red", "it's", 'a "b"; --', "日本\n\\n"])


@pytest.fixture(params=DATABASES)
def database(request):
    """Return a function from names, types, rows and a statement to the columns and rows of its result.

    The rows are in a table named rows, which also has a column with the number of each row, named "Row id".
    """
    url = request.getfixturevalue("postgres") if request.param == "postgresql" else None

    def run(names, types, rows, statement, table="rows"):
        marks = ", ".join("$1" if url else "?" for _ in names)
        columns = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}" {kind}' for name, kind in zip(names, types))
        create = f'CREATE TABLE "{table}" ("Row id" INTEGER, {columns})'
        numbered = [(i, *map(plain, row)) for i, row in enumerate(rows)]
        if url is None:
            connect = duckdb if request.param == "duckdb" else sqlite3
            connection = connect.connect(":memory:")
            connection.execute(create)
            connection.executemany(f'INSERT INTO "{table}" VALUES (?, {marks})', numbered)
            result = connection.execute(statement)
            answer = [column[0] for column in result.description], result.fetchall()
            connection.close()
            return answer
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute(create)
            cursor.execute(f'INSERT INTO "{table}" VALUES ' + ", ".join(map(as_literals, numbered)))
            cursor.execute(statement)
            answer = [column[0] for column in cursor.description], cursor.fetchall()
            connection.rollback()
        return answer

    run.kind = request.param
    return run


def plain(value):
    return value.item() if isinstance(value, np.generic) else value


def as_literals(row):
    def literal(value):
        if isinstance(value, str):
            return "'" + value.replace("'", "''") + "'"
        return "NULL" if value is None else "CAST('NaN' AS FLOAT8)" if value != value else repr(value).upper()

    return f"({', '.join(map(literal, row))})"


def table(seed, rows, missing):
    """Return a table of mixed types with a share of missing values, and classes that depend on it."""
    rng = np.random.default_rng(seed)
    cells = np.empty((rows, 5), object)
    y = rng.integers(0, 3, rows)
    cells[:, 0] = LEVELS[(rng.integers(0, 4, rows) + y) % 4]
    cells[:, 1] = (rng.normal(size=rows) + y).round(1) / 3
    cells[:, 2] = rng.integers(0, 5, rows) * (y > 0)
    cells[:, 3] = rng.random(rows) < 0.2 + 0.3 * y
    cells[:, 4] = np.array(["a", "b"])[(rng.random(rows) < 0.3 + 0.1 * cells[:, 2].astype(int)).astype(int)]
    cells[rng.random(cells.shape) < missing] = None
    return cells, np.array(["no", "it's", "yes"])[y]


def incomplete(seed, rows, missing):
    """Return rows with missing and unseen values, some with many of them; NaN is a missing number."""
    X, _ = table(seed, rows, missing)
    X[:5, 0] = "never seen"
    X[5:10, 2] = 77
    X[10] = None
    X[11:20, 1] = np.nan
    X[20:40, 2:] = None
    return X


def frame(X):
    return pd.DataFrame(X, columns=NAMES)


def fitted(name, settings=(), seed=0, rows=300, missing=0.1):
    X, y = table(seed, rows, missing)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "column .* levels")
        return REGISTRY[name].classifier(**dict(settings)).fit(frame(X), y)


def predicted(database, model, X, names=NAMES, types=TYPES):
    """Return the predictions and the probabilities that a database computes, in the order of the rows."""
    classes = model.schema_.classes if hasattr(model, "schema_") else model.schema.classes
    columns, rows = database(names, types, X, sql(model, keep=["Row id"]))
    assert columns == ["Row id", "prediction", *(f"p({label})" for label in classes)]
    rows = sorted(rows)
    assert [row[0] for row in rows] == list(range(len(X)))
    return [row[1] for row in rows], np.array([row[2:] for row in rows], float)


def same_predictions(database, model, X, answered=None):
    """Compare the predictions of a database with those of Python; rows that are not answered must be NULL."""
    labels, probabilities = predicted(database, model, X)
    expected = model.predict_proba(frame(X))
    answered = np.ones(len(X), bool) if answered is None else answered
    np.testing.assert_allclose(probabilities[answered], expected[answered], rtol=0, atol=1e-9)
    assert np.isnan(probabilities[~answered]).all()
    two_best = np.sort(expected, axis=1)[:, -2:]
    clear = answered & (two_best[:, 1] - two_best[:, 0] > 1e-9)
    assert [labels[i] for i in np.flatnonzero(clear)] == model.predict(frame(X))[clear].tolist()
    assert all(labels[i] is None for i in np.flatnonzero(~answered))


def has_known_value_below_missing(model, X):
    """Return the rows in which an attribute is known and its parent is missing or unseen."""
    codes, arity = model.schema_.encode(frame(X)), model.schema_.arity
    missing = codes >= arity[:, None]
    parents = [model.network_.structure.attribute_parents(u) for u in range(len(arity))]
    return np.any([missing[p] & ~missing[u] for u, above in enumerate(parents) for p in above], axis=0)


@pytest.mark.parametrize("name", EXPORTED)
def test_every_model_predicts_as_in_python(database, name):
    model = fitted(name, rows=3000 if name == "forest-an" else 300)
    X = incomplete(1, 300, 0.15)
    if database.kind == "sqlite":
        X = np.where(X != X, None, X)
    if name in ("evidence-bn", "naive-bayes"):
        same_predictions(database, model, X)
    else:
        unknown = has_known_value_below_missing(model, X)
        assert 0 < unknown.sum() < np.any(X != X, axis=1).sum() + np.any(X == None, axis=1).sum()  # noqa: E711
        same_predictions(database, model, X, ~unknown)
    same_predictions(database, model, table(2, 100, 0.0)[0])


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *itertools.product(["evidence-bn", "naive-bayes", "tan"], ["prior", "state", "marginalize", "few levels"]),
        ("naive-bayes", "ml"),
        ("tan", "ml"),
    ],
)
def test_other_settings_predict_as_in_python(database, name, settings):
    given = {
        "ml": {"parameters": "ml"},
        "prior": {"class_prior": [0.7, 0.0, 0.3]},
        "state": {"encoder": Encoder(missing="state")},
        "marginalize": {"encoder": Encoder(missing="marginalize")},
        "few levels": {"encoder": Encoder(max_levels=2, missing="state")},
    }[settings]
    model = fitted(name, given, 2, 60, 0.2)
    X = incomplete(3, 200, 0.2)
    if database.kind == "sqlite":
        X = np.where(X != X, None, X)
    answered = ~has_known_value_below_missing(model, X) if name == "tan" else None
    same_predictions(database, model, X, answered)


def test_parents_of_evidence_that_do_not_matter_are_left_out(database):
    model = fitted("evidence-bn", {"depth": 0})
    assert not any(model.model_.parents)
    same_predictions(database, model, incomplete(4, 60, 0.1) if database.kind != "sqlite" else table(4, 60, 0.1)[0])
    deep = fitted("evidence-bn")
    flat = [np.ptp(t, axis=tuple(range(t.ndim - 2))).max() == 0 for t in deep.model_.compiled.tables]
    assert len(sql(deep)) > len(sql(model)) or all(flat)


def test_a_row_that_is_impossible_under_every_class_gets_the_prior(database):
    X = np.array([["a", "p"], ["b", "q"], ["a", "p"]], object)
    model = TAN(parameters="ml").fit(X, ["no", "yes", "no"])
    rows = [["a", "q"], ["b", "p"], ["b", "q"]]
    labels, probabilities = predicted(database, model, rows, ("x0", "x1"), ("VARCHAR", "VARCHAR"))
    np.testing.assert_allclose(probabilities, [[2 / 3, 1 / 3], [2 / 3, 1 / 3], [0, 1]], rtol=0, atol=1e-15)
    assert labels == ["no", "no", "yes"]


def test_numbers_lie_on_the_same_side_of_a_cut(database):
    rng = np.random.default_rng(0)
    some = [-1e300, -1.5, 0.0, 1e-300, 0.1, float(np.nextafter(0.1, 1)), 1 / 3, 1e10, 2.0**60 + 2**20, 1e300]
    cuts = tuple(np.unique([*some, *rng.normal(size=300), *rng.lognormal(0, 20, 300)]).tolist())
    schema = Schema([Number("x", cuts)], tuple(range(len(cuts) + 1)))
    n = len(schema.classes)
    # Each interval is certain under its own class; the prior is largest for class 7.
    prior = np.where(np.arange(n) == 7, 2.0, 1.0) / (n + 1)
    network = Network(
        schema, Structure.augmented((-1,)), (np.where(np.eye(n, dtype=bool), 0.0, -np.inf), np.log(prior))
    )
    values = [v for cut in cuts for v in (np.nextafter(cut, -np.inf), cut, np.nextafter(cut, np.inf))]
    missing = [None] if database.kind == "sqlite" else [None, float("nan")]
    labels, _ = predicted(database, network, [[v] for v in values + missing], ("x",), ("DOUBLE PRECISION",))
    assert labels[: len(values)] == np.searchsorted(cuts, values).tolist()
    assert set(labels[len(values) :]) == {7}


def test_infinite_numbers_belong_to_the_outermost_intervals():
    schema = Schema([Number("x", (0.0,))], ("low", "high"))
    network = Network(schema, Structure.augmented((-1,)), (np.log([[0.9, 0.1], [0.2, 0.8]]), np.log([0.5, 0.5])))
    connection = duckdb.connect()
    connection.execute("CREATE TABLE rows AS SELECT unnest(['inf', '-inf'])::DOUBLE AS x")
    assert dict(row[:2] for row in connection.execute(sql(network)).fetchall()) == {np.inf: "high", -np.inf: "low"}


def test_unseen_values_give_null_if_the_encoder_raises_on_them(database):
    for model in (
        fitted("naive-bayes", {"encoder": Encoder(unseen="error")}),
        fitted("evidence-bn", {"encoder": Encoder(unseen="error")}),
    ):
        X, _ = table(5, 30, 0.2)
        unseen = X.copy()
        unseen[3, 0], unseen[4, 2] = "never seen", 77
        _, probabilities = predicted(database, model, unseen)
        assert np.flatnonzero(np.isnan(probabilities).any(axis=1)).tolist() == [3, 4]
        known = np.delete(np.arange(30), [3, 4])
        np.testing.assert_allclose(probabilities[known], model.predict_proba(frame(X[known])), rtol=0, atol=1e-9)


def test_the_first_of_equal_classes_is_predicted(database):
    schema = Schema([Category("x", ("a", "b"))], ("p", "q", "r"))
    tables = (np.log([[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]]), np.log([1 / 3, 1 / 3, 1 / 3]))
    network = Network(schema, Structure.augmented((-1,)), tables)
    labels, probabilities = predicted(database, network, [["a"], ["b"], [None]], ("x",), ("VARCHAR",))
    assert labels == ["q", "p", "p"]
    np.testing.assert_allclose(probabilities, [[0.2, 0.4, 0.4], [3 / 7, 2 / 7, 2 / 7], [1 / 3] * 3], atol=1e-15)


@pytest.mark.parametrize("classes", [("p", "q"), (3, -4), (False, True), (0.5, 1 / 3), (1, "1")])
def test_predictions_have_the_type_of_the_classes(database, classes):
    schema = Schema([Category("x", ("a", "b"))], classes)
    network = Network(schema, Structure.augmented((-1,)), (np.log([[0.9, 0.1], [0.2, 0.8]]), np.log([0.5, 0.5])))
    _, rows = database(("x",), ("VARCHAR",), [["a"], ["b"]], sql(network))
    expected = [str(label) if "1" in classes else label for label in classes]
    assert [row[1] for row in sorted(rows)] == expected
    if database.kind != "sqlite":
        assert [type(row[1]) for row in sorted(rows)] == [type(label) for label in expected]


@pytest.mark.parametrize(
    ("levels", "kind"),
    [
        ((-1, 4), "SMALLINT"),
        ((-1, 4), "NUMERIC(6, 2)"),
        ((0.1, 1 / 3), "DOUBLE PRECISION"),
        ((2**53, 2**53 + 1), "BIGINT"),
        ((False, True), "BOOLEAN"),
        (("", "NULL"), "CHAR(4)"),
    ],
)
def test_levels_of_any_type_are_compared_exactly(database, levels, kind):
    schema = Schema([Category("x", levels, missing=True)], ("p", "q", "r"))
    own = np.where(np.eye(3, dtype=bool), 0.0, -np.inf)
    network = Network(schema, Structure.augmented((-1,)), (own, np.log([0.3, 0.3, 0.4])))
    labels, _ = predicted(database, network, [[levels[1]], [levels[0]], [None]], ("x",), (kind,))
    assert labels == ["q", "p", "r"]


def test_case_matters_in_a_column_of_sqlite_that_ignores_it():
    model = NaiveBayes().fit([["a"], ["A"]], ["small", "large"])
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE rows (x0 TEXT COLLATE NOCASE)")
    connection.execute("INSERT INTO rows VALUES ('a'), ('A')")
    assert [row[1] for row in connection.execute(sql(model))] == ["small", "large"]
    connection.close()


@pytest.mark.parametrize(("n", "classes"), [(130, 2), (3, 20), (70, 70)])
def test_many_attributes_and_classes_are_summed_in_steps(database, n, classes):
    rng = np.random.default_rng(0)
    schema = Schema([Number(f"x{u}", (0.0,)) for u in range(n)], tuple(f"c{k}" for k in range(classes)))
    tables = [np.log(rng.dirichlet([2, 2], classes)) for _ in range(n)]
    network = Network(schema, Structure.augmented((-1,) * n), (*tables, np.log(rng.dirichlet([1] * classes))))
    X = rng.normal(size=(20, n))
    X[rng.random(X.shape) < 0.1] = np.nan
    joint = network.log_joint(schema.encode(X))
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    rows = [[None if v != v else v for v in row] for row in X.tolist()]
    labels, probabilities = predicted(database, network, rows, schema.names, ["DOUBLE PRECISION"] * n)
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=1e-9)
    assert labels == [f"c{k}" for k in expected.argmax(axis=1)]


def test_improbable_classes_do_not_underflow(database):
    n = 60
    schema = Schema([Category(f"x{u}", ("a", "b")) for u in range(n)], (1, 2, 3))
    own = np.log([[1e-20, 1 - 1e-20], [1 - 1e-20, 1e-20], [0.5, 0.5]])
    network = Network(schema, Structure.augmented((-1,) * n), (*[own] * n, np.log([0.2, 0.3, 0.5])))
    labels, probabilities = predicted(database, network, [["a"] * n, ["b"] * n], schema.names, ["VARCHAR"] * n)
    assert labels == [2, 1]
    np.testing.assert_allclose(probabilities, [[0, 1, 0], [1, 0, 0]], rtol=0, atol=1e-15)


def test_a_single_class_has_probability_one(database):
    model = NaiveBayes().fit([["a"], ["b"]], ["only", "only"])
    labels, probabilities = predicted(database, model, [["a"], [None]], ("x0",), ("VARCHAR",))
    assert (labels, probabilities.tolist()) == (["only"] * 2, [[1.0], [1.0]])


def test_columns_of_the_model_are_copied_unless_others_are_named(database):
    model = NaiveBayes().fit([["a", 1.5], ["b", 2.5]], ["p", "q"])
    row = [["a", 1.5]]
    columns, rows = database(("x0", "x1"), ("VARCHAR", "DOUBLE PRECISION"), row, sql(model))
    assert columns == ["x0", "x1", "prediction", "p(p)", "p(q)"]
    assert rows[0][:3] == ("a", 1.5, "p")
    columns, _ = database(("x0", "x1"), ("VARCHAR", "DOUBLE PRECISION"), row, sql(model, keep=()))
    assert columns == ["prediction", "p(p)", "p(q)"]
    assert not database(("x0", "x1"), ("VARCHAR", "DOUBLE PRECISION"), row, sql(model) + " LIMIT 0")[1]


@pytest.mark.parametrize("name", ["tanbark_keys", "Tanbark_total", "t", "q", 'a "b"; --\n'])
def test_a_table_may_have_any_name(database, name):
    model = NaiveBayes().fit([["a"], ["b"]], ["p", "q"])
    made = name.replace('"', '""')
    _, rows = database(("x0",), ("VARCHAR",), [["b"]], sql(model, table=name), made)
    assert rows[0][:2] == ("b", "q")


def test_a_table_may_be_in_a_schema(tmp_path):
    model = NaiveBayes().fit([["a"], ["b"]], ["p", "q"])
    path = tmp_path / "score.sql"
    statement = sql(model, path, table=("other", "rows"))
    assert path.read_text() == statement
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA other; CREATE TABLE other.rows AS SELECT 'b' AS x0")
    connection.execute(f"CREATE VIEW scored AS {statement}")
    assert connection.execute("SELECT prediction FROM scored").fetchall() == [("q",)]


@pytest.mark.parametrize(
    "name", sorted(set(REGISTRY) - {*EXPORTED, "k2", "bayes-net", "augmented-naive-bayes", "bnc2p"})
)
def test_models_that_sql_cannot_express_are_refused_with_an_alternative(name, tmp_path):
    X, y = lenses()
    model = REGISTRY[name].classifier().fit(X, y)
    with pytest.raises(ValueError, match=r"EvidenceBN|export\.sql") as error:
        sql(model, tmp_path / "x.sql")
    assert str(error.value).count(".  ") == 0
    assert not (tmp_path / "x.sql").exists()


def test_other_networks_are_refused():
    with pytest.raises(ValueError, match="only if it is a tree, and this one is not; fit EvidenceBN or TAN"):
        sql(KDB(k=2).fit(*lenses()))
    with pytest.raises(TypeError, match="cannot export 'int' to SQL"):
        sql(3)
    with pytest.raises(Exception, match="not fitted"):
        sql(EvidenceBN())


def test_names_and_levels_that_sql_cannot_hold_are_refused():
    tables = (np.log([[0.9, 0.1], [0.2, 0.8]]), np.log([0.5, 0.5]))
    for name, levels, message in (
        ("", ("a", "b"), "a name is empty"),
        ("x\0", ("a", "b"), "contains a null character or a lone surrogate"),
        ("x", ("a\ud800", "b"), "contains a null character or a lone surrogate"),
        ("x", (1, "a"), "column 'x' has both text and numbers as levels"),
        ("x", (1.0, float("inf")), "inf cannot be written as a number in SQL"),
        ("Prediction", ("a", "b"), "two columns 'Prediction'; rename the column, or leave it out"),
        ("p(0)", ("a", "b"), r"two columns 'p\(0\)'"),
    ):
        network = Network(Schema([Category(name, levels)], (0, 1)), Structure.augmented((-1,)), tables)
        with pytest.raises(ValueError, match=message):
            sql(network)
    network = Network(Schema([Category("x", ("a", "b"))], (0, 1)), Structure.augmented((-1,)), tables)
    for given, message in (
        ({"keep": "id"}, r"keep must be a sequence of column names, got 'id'; write \['id'\]"),
        ({"keep": ["id", "id"]}, "keep has 'id' twice"),
        ({"table": ()}, r"table must be a name or a sequence of names, got \(\)"),
        ({"table": 3}, "table must be a name or a sequence of names, got 3"),
    ):
        with pytest.raises(ValueError, match=message):
            sql(network, **given)


def test_too_many_columns_or_entries_are_refused(monkeypatch):
    schema = Schema([Category(f"x{u}", ("a", "b")) for u in range(1700)], (0, 1))
    tables = (*[np.log([[0.9, 0.1], [0.2, 0.8]])] * 1700, np.log([0.5, 0.5]))
    with pytest.raises(ValueError, match="columns, but databases allow about 1,600; use fewer attributes or classes"):
        sql(Network(schema, Structure.augmented((-1,) * 1700), tables))
    monkeypatch.setattr("tanbark.export.sql_statement.MAX_ENTRIES", 10)
    with pytest.raises(ValueError, match="entries, but an SQL statement can hold at most 10; use fewer levels"):
        export.sql(TAN().fit(*lenses()))

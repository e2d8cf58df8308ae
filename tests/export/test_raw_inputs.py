"""Exports of models that read text or dates: what the columns of a database or an ONNX input must hold."""

import itertools
import re
import sqlite3
import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest

from tanbark import TAN, Encoder, EvidenceBN, NaiveBayes, Recipe, export, load, save
from tanbark.export import scorecard

ROWS = 200
RNG = np.random.default_rng(2)
AMOUNT = RNG.integers(100, 9000, ROWS)
COLOUR = RNG.choice(["red", "blue", "N/A", " n/a ", "", "none"], ROWS)
Y = np.where(RNG.random(ROWS) < 0.2, "p", np.where((AMOUNT > 4000) | (COLOUR == "red"), "p", "q"))
TEXT = pd.DataFrame({"amount": [f"{n:,}" for n in AMOUNT], "colour": COLOUR, "member": ["yes", "no"] * 100})
SEEN = pd.Timestamp("2024-01-01") + pd.to_timedelta(AMOUNT, unit="h")
DAYS = pd.DataFrame({"seen": SEEN, "size": np.arange(ROWS) / 8})
CLASSIFIERS = (NaiveBayes, TAN, EvidenceBN)


def fitted(classifier, X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return classifier(encoder=Encoder(**parameters)).fit(X, Y)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("dates", ["expand", "number"])
@pytest.mark.parametrize("language", ["SQL", "ONNX"])
def test_dates_are_refused_with_the_column_and_what_to_do(classifier, dates, language):
    model = fitted(classifier, DAYS, dates=dates)
    expected = (
        f"column 'seen' holds dates or times, which an export to {language} cannot read; fit with "
        "Encoder(dates='ignore'), or replace the column by numbers such as days since a fixed date"
    )
    with pytest.raises(ValueError, match=r"^column 'seen'") as error:
        getattr(export, language.lower())(model)
    assert str(error.value) == expected
    ignored = fitted(classifier, DAYS, dates="ignore")
    assert getattr(export, language.lower())(ignored)


def test_times_of_day_in_text_are_refused():
    model = fitted(NaiveBayes, pd.DataFrame({"at": [f"{n % 24:02}:00" for n in AMOUNT]}), coerce=True)
    with pytest.raises(ValueError, match="column 'at' holds dates or times"):
        export.sql(model)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("missing", ["state", "marginalize"])
@pytest.mark.parametrize("database", [duckdb, sqlite3])
def test_typed_numbers_and_markers_in_text_give_the_predictions_of_python(classifier, missing, database):
    model = fitted(classifier, TEXT, coerce=True, missing=missing, max_levels=3)
    connection = database.connect(":memory:")
    connection.execute("CREATE TABLE rows (id INTEGER, amount DOUBLE PRECISION, colour VARCHAR, member VARCHAR)")
    colours = [*COLOUR[:50], *["Na", "NULL", "?", "green"] * 10]
    rows = [(i, float(AMOUNT[i]), colour, "yes") for i, colour in enumerate(colours)]
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", rows)
    frame = pd.DataFrame([row[1:] for row in rows], columns=["amount", "colour", "member"])
    statement = export.sql(model, keep=["id"])
    result = sorted(connection.execute(statement).fetchall())
    connection.close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.predict_proba(frame)
    known = [i for i, row in enumerate(result) if row[2] is not None]
    assert len(known) > 20
    np.testing.assert_allclose(np.array([result[i][2:] for i in known]), expected[known], rtol=1e-9)


@pytest.mark.parametrize(
    ("texts", "how"),
    [
        ([f"${n:,}" for n in AMOUNT], "with the currency sign '$'"),
        ([f"{n / 4:.2f}".replace(".", ",") for n in AMOUNT], "with a decimal comma"),
    ],
)
def test_numbers_that_sql_would_read_as_others_are_refused(texts, how):
    model = fitted(NaiveBayes, pd.DataFrame({"amount": texts}), coerce=True)
    message = f"column 'amount' holds numbers {how}, which an export to SQL cannot read; fit with a table"
    with pytest.raises(ValueError, match=re.escape(message)):
        export.sql(model)


def test_a_statement_names_the_columns_that_must_hold_numbers():
    statement = export.sql(fitted(NaiveBayes, TEXT.rename(columns={"amount": "the\n-- amount"}), coerce=True))
    comments = list(itertools.takewhile(lambda line: line.startswith("--"), statement.splitlines()))
    assert comments == ['-- Column "the\\n-- amount" must hold numbers, not text.']
    assert export.sql(fitted(NaiveBayes, TEXT[["colour"]])).startswith("WITH")


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("missing", ["state", "marginalize"])
def test_onnx_reads_typed_numbers_and_markers_as_python_does(classifier, missing):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    model = fitted(classifier, TEXT, coerce=True, missing=missing)
    exported = export.onnx(model)
    assert [one.doc_string for one in exported.graph.input] == ["numbers, not text", "", ""]
    marks = ["", "N/A", "n/a", "NA", "na", "NaN", "nan", "NULL", "Null", "null", "#n/a", "?"]
    colours = np.array(["red", "blue", "none", "green", *marks])
    frame = pd.DataFrame({"amount": AMOUNT[: len(colours)].astype(float), "colour": colours, "member": "yes"})
    session = onnxruntime.InferenceSession(exported.SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = {name: frame[[name]].to_numpy() for name in frame}
    inputs["colour"], inputs["member"] = inputs["colour"].astype(object), inputs["member"].astype(object)
    _, probabilities = session.run(None, inputs)
    np.testing.assert_allclose(probabilities, model.predict_proba(frame), rtol=1e-9)


MARKED = pd.DataFrame(
    {"size": np.where(AMOUNT % 5 == 0, -999, AMOUNT / 8), "number": np.where(AMOUNT % 7 == 0, -999, AMOUNT % 4)}
)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("missing", ["state", "marginalize"])
def test_numbers_that_stand_for_missing_values_are_missing_in_exports(classifier, missing):
    model = fitted(classifier, MARKED, coerce=Recipe(missing=["", "-999"]), categorical=["number"], missing=missing)
    expected = model.predict_proba(MARKED)
    assert not np.allclose(expected, fitted(classifier, MARKED, categorical=["number"]).predict_proba(MARKED))
    np.testing.assert_allclose(expected, model.predict_proba(MARKED.replace(-999, np.nan)))
    for database in (duckdb, sqlite3):
        connection = database.connect(":memory:")
        connection.execute("CREATE TABLE rows (id INTEGER, size DOUBLE PRECISION, number INTEGER)")
        rows = [(i, float(size), int(number)) for i, (size, number) in enumerate(MARKED.to_numpy())]
        connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
        result = sorted(connection.execute(export.sql(model, keep=["id"])).fetchall())
        connection.close()
        # A tree has no answer in SQL if a parent is missing.
        known = [i for i, row in enumerate(result) if row[2] is not None]
        assert len(known) > ROWS / 2
        np.testing.assert_allclose([result[i][2:] for i in known], expected[known], rtol=1e-9)
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(export.onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    _, probabilities = session.run(None, {name: MARKED[[name]].to_numpy(float) for name in MARKED})
    np.testing.assert_allclose(probabilities, expected, rtol=1e-9)


def test_bif_files_keep_dates(tmp_path):
    network = TAN().fit(DAYS, Y).network_
    for write, read in ((export.bif, export.read_bif), (export.xmlbif, export.read_xmlbif)):
        write(network, tmp_path / "network")
        again = read(tmp_path / "network").schema
        assert again.columns[0] == network.schema.columns[0]
        assert again.columns[0].labels == network.schema.columns[0].labels


def test_scorecards_show_dates_and_read_them(tmp_path):
    model = EvidenceBN(depth=0, encoder=Encoder(dates="number", n_bins=4)).fit(DAYS, Y)
    card = scorecard(model)
    labels = [row.label for row in card.rows if row.attribute == "seen" and row.kind == "interval"]
    assert labels
    assert all("2024-" in label or label == "any date" for label in labels)
    assert card.points(DAYS).shape == (ROWS,)
    save(model, tmp_path / "m.tanbark")
    assert [row.label for row in scorecard(load(tmp_path / "m.tanbark")).rows] == [row.label for row in card.rows]

"""Sampled rows as tables of pandas, polars and Arrow."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tanbark import KDB, TAN, AveragedTAN, Category, Encoder, NaiveBayes, Network, Schema
from tanbark.network import Structure

ROWS = 200


def mixed_table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": pd.Series(np.array(["f", "m"], object)[rng.integers(0, 2, ROWS)]).mask(rng.random(ROWS) < 0.1),
            "age": rng.normal(40, 9, ROWS),
            "flag": rng.random(ROWS) < 0.5,
            "count": rng.integers(0, 4, ROWS),
            "seen": pd.date_range("2024-01-01", periods=ROWS),
        }
    )
    return frame, pd.Series(np.array(["ill", "well"], object)[rng.integers(0, 2, ROWS)], name="state")


def models():
    X, y = mixed_table()
    fitted = [classifier.fit(X, y) for classifier in (NaiveBayes(), TAN(), KDB(), AveragedTAN())]
    return [*fitted, fitted[1].network_]


@pytest.fixture(scope="module", params=range(5), ids=["NaiveBayes", "TAN", "KDB", "AveragedTAN", "Network"])
def model(request):
    return models()[request.param]


NAMES = ["sex", "age", "flag", "count", "seen"]


def test_a_pandas_frame_has_the_types_of_the_columns_and_predicts(model):
    X, y = model.sample(50, random_state=1, as_frame="pandas")
    assert isinstance(y, pd.Series)
    assert (y.name, set(y)) == ("state", {"ill", "well"})
    assert list(X.columns) == NAMES
    assert [dtype.kind for dtype in X.dtypes[1:]] == ["f", "b", "i", "M"]
    assert pd.api.types.is_string_dtype(X["sex"].dtype)
    assert X["seen"].between("2024-01-01", "2024-07-19").all()
    if not isinstance(model, Network):
        assert np.isfinite(model.predict_proba(X)).all()


def test_polars_and_arrow_tables_hold_the_same_rows(model):
    expected, classes = model.sample(50, random_state=1, as_frame="pandas")
    X, y = model.sample(50, random_state=1, as_frame="polars")
    assert X.schema == {
        "sex": pl.String, "age": pl.Float64, "flag": pl.Boolean, "count": pl.Int64, "seen": pl.Datetime("us")
    }  # fmt: skip
    assert (y.name, y.to_list()) == ("state", classes.tolist())
    arrow, labels = model.sample(50, random_state=1, as_frame="pyarrow")
    assert isinstance(arrow, pa.Table)
    assert isinstance(labels, pa.Array)
    assert labels.to_pylist() == classes.tolist()
    for name in NAMES:
        assert X[name].to_list() == arrow[name].to_pylist() == expected[name].tolist()


def test_the_numbers_of_a_frame_are_those_of_the_array(model):
    X, y = model.sample(50, random_state=1)
    frame, classes = model.sample(50, random_state=1, as_frame="pandas")
    places = [
        model.schema.names.index(name) if isinstance(model, Network) else model.schema_.names.index(name)
        for name in NAMES
    ]
    assert X[:, places].tolist() == frame.astype(object).to_numpy().tolist()
    assert y.tolist() == classes.tolist()


def test_samples_differ_from_call_to_call_unless_they_are_seeded(model):
    for how in (None, "pandas"):
        one, other = (np.asarray(model.sample(50, as_frame=how)[0]) for _ in range(2))
        assert (one != other).any()
        one, other = (np.asarray(model.sample(50, random_state=5, as_frame=how)[0]) for _ in range(2))
        assert (one == other).all()


@pytest.mark.parametrize("as_frame", ["pandas", "polars", "pyarrow"])
def test_types_do_not_depend_on_what_was_sampled(as_frame):
    """Not even if nothing is, or only missing values are."""
    X, y = mixed_table()
    X = X.assign(count=X["count"].mask(X["count"] < 3))
    model = TAN(encoder=Encoder(missing="state")).fit(X.drop(columns="seen"), y)
    few, many = (model.sample(n, random_state=0, as_frame=as_frame) for n in (0, 400))
    if as_frame == "pyarrow":
        assert few[0].schema == many[0].schema
        assert few[1].type == many[1].type
    elif as_frame == "polars":
        assert few[0].schema == many[0].schema
        assert few[1].dtype == many[1].dtype
    counts = many[0]["count"]
    assert counts.to_pandas().isna().any() if as_frame == "pyarrow" else pd.Series(counts.to_list()).isna().any()


def test_levels_of_several_types_become_one():
    schema = Schema([Category("mixed", (1, "a")), Category("huge", (2**70, 2**71))], (1, 2.5))
    tables = tuple(np.log(np.full((2, 2), 0.5)) for _ in range(2))
    network = Network(schema, Structure.augmented((-1, -1)), (*tables, np.log([0.5, 0.5])))
    X, y = network.sample(90, random_state=0, as_frame="pyarrow")
    assert set(X["mixed"].to_pylist()) == {"1", "a"}
    assert set(X["huge"].to_pylist()) == {str(2**70), str(2**71)}
    assert y.type == pa.float64()


def test_an_unknown_type_and_a_missing_package_are_named(model, monkeypatch):
    with pytest.raises(ValueError, match=r"^as_frame must be None, 'pandas', 'polars' or 'pyarrow', got 'spark'$"):
        model.sample(3, as_frame="spark")
    with pytest.raises(ValueError, match=r"^as_frame must be None"):
        model.sample(3, as_frame=["pandas"])
    monkeypatch.setattr("tanbark.schema.encode.sampled_rows.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"^as_frame='polars' needs polars, which is not installed: pip install pol"):
        model.sample(3, as_frame="polars")


@pytest.mark.parametrize("n", [-1, 2.5, True, "3", None])
def test_the_number_of_rows_is_checked(n, model):
    with pytest.raises(ValueError, match=r"^n must be a whole number of at least 0, got"):
        model.sample(n)

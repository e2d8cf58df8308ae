import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from tanbark import Encoder
from tanbark.schema import Category, Number

QUICK = settings(deadline=None, database=None, max_examples=50)


def learn(X, y=None, sample_weight=None, **options):
    rows = X.shape[0]
    y = np.arange(rows) % 2 if y is None else y
    return Encoder(**options).fit(X, y, sample_weight).schema_


def text(*counts):
    """Return a column of labels, each repeated the given number of times, in order."""
    return np.array([[label] for label, many in counts for _ in range(many)], object)


# Which columns are categories


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float32, np.float64, object])
@pytest.mark.parametrize("step", [1, 1000])
@pytest.mark.parametrize("rows", [4, 40])
def test_ten_distinct_whole_numbers_are_a_category_and_eleven_are_not(dtype, step, rows):
    step = 1 if np.dtype(dtype).itemsize == 1 else step
    for many, kind in ((10, Category), (11, Number)):
        X = (np.arange(rows * many) % many * step).astype(dtype).reshape(-1, 1)
        assert type(learn(X).columns[0]) is kind


def test_integer_valued_floats_with_missing_values_are_integers():
    column = learn(np.array([[3.0], [np.nan], [1.0]])).columns[0]
    assert column == Category("x0", (1, 3))
    assert {type(v) for v in column.levels} == {int}


def test_one_fraction_makes_a_column_of_floats_a_number():
    assert isinstance(learn(np.array([[3.0], [1.0], [1.5]])).columns[0], Number)


MIXED = pd.DataFrame(
    {"few": [1, 2, 1, 2], "real": [0.5, 1.5, 0.5, 2.5], "text": list("abab"), "flag": [True, False] * 2}
)


@pytest.mark.parametrize(
    ("categorical", "categories"),
    [
        ("auto", {"few", "text", "flag"}),
        ("all", {"few", "real", "text", "flag"}),
        ([], {"text", "flag"}),
        (["real"], {"real", "text", "flag"}),
        ([1], {"real", "text", "flag"}),
        ([-3], {"real", "text", "flag"}),
        (("few", 1), {"few", "real", "text", "flag"}),
        (np.array([0]), {"few", "text", "flag"}),
        (np.array(["real"]), {"real", "text", "flag"}),
        (["text"], {"text", "flag"}),
    ],
)
def test_categorical_selects_the_numeric_columns_that_are_categories(categorical, categories):
    schema = learn(MIXED, categorical=categorical)
    assert {c.name for c in schema.columns if isinstance(c, Category)} == categories


def test_a_category_of_fractions_has_the_fractions_as_levels():
    assert learn(MIXED, categorical="all").columns[1].levels == (0.5, 1.5, 2.5)


@pytest.mark.parametrize("name", ["nope", 4, -5])
def test_a_categorical_column_that_is_not_in_the_table_raises(name):
    with pytest.raises(ValueError, match=rf"categorical names the column {name!r}, which the table does not have"):
        learn(MIXED, categorical=["few", name])


@pytest.mark.parametrize(
    "categorical", ["some", None, 3, [1.0], [None], [True, False, False, True], np.array([True, False, False, True])]
)
def test_an_invalid_categorical_raises_and_names_the_parameter(categorical):
    with pytest.raises((ValueError, TypeError), match="categorical"):
        learn(MIXED, categorical=categorical)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bins", "kmeans"),
        ("bins", None),
        ("bins", ["width"]),
        ("n_bins", 0),
        ("n_bins", 2.0),
        ("n_bins", True),
        ("n_bins", "5"),
        ("n_bins", None),
        ("max_levels", 1),
        ("max_levels", 10**9),
        ("missing", "drop"),
        ("unseen", None),
    ],
)
def test_an_invalid_parameter_raises_with_its_name_and_value(name, value):
    encoder = Encoder(**{name: value})
    with pytest.raises(ValueError, match=rf"^{name} must be .*, got ") as error:
        encoder.fit(MIXED, [0, 1, 0, 1])
    assert str(error.value).endswith(repr(value))
    assert not hasattr(encoder, "schema_")


# Bins


@pytest.mark.parametrize("bins", ["quantile", "width", "mdlp"])
def test_a_constant_column_has_one_bin(bins):
    schema = learn(np.full((6, 1), 2.5), bins=bins)
    assert schema.columns[0] == Number("x0", (), 2.5, 2.5)
    assert schema.encode(np.array([[-9.0], [2.5], [9.0]])).tolist() == [[0, 0, 0]]


def test_bins_are_learned_and_the_range_is_kept():
    X = np.array([[0.5], [8.5], [1.5], [2.5]])
    assert learn(X, n_bins=2).columns[0] == Number("x0", (1.5,), 0.5, 8.5)
    assert learn(X, n_bins=4, bins="width").columns[0] == Number("x0", (2.5, 4.5, 6.5), 0.5, 8.5)
    assert learn(X, n_bins=1).columns[0] == Number("x0", (), 0.5, 8.5)


def test_quantile_bins_are_numpys_on_a_real_column():
    x = np.random.default_rng(3).gamma(2.0, size=1000)
    expected = np.quantile(x, [0.25, 0.5, 0.75], method="inverted_cdf")
    schema = learn(x.reshape(-1, 1), n_bins=4)
    assert schema.columns[0].cuts == tuple(expected)
    assert np.bincount(schema.encode(x.reshape(-1, 1))[0]).tolist() == [250] * 4


@QUICK
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30).filter(
        lambda rows: any(w for _, _, w in rows)
    ),
    st.sampled_from(["quantile", "width", "mdlp"]),
    st.sampled_from(["all", []]),
)
def test_a_weight_is_a_repetition_and_a_weight_of_zero_is_no_row(rows, bins, categorical):
    x, y, w = np.array(rows).T
    x = x + 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = Encoder(bins=bins, categorical=categorical, n_bins=3)
        weighted = clone(encoder).fit(x.reshape(-1, 1), y, w).schema_
        repeated = clone(encoder).fit(np.repeat(x, w).reshape(-1, 1), np.repeat(y, w)).schema_
    assert weighted == repeated


@pytest.mark.parametrize("bins", ["quantile", "width", "mdlp"])
@pytest.mark.parametrize(
    "weights", [[1, 1], [1, 1, -1], [1, 1, np.nan], [1, 1, np.inf], [0, 0, 0], [[1], [1], [1]], ["a", "b", "c"]]
)
def test_invalid_weights_raise_and_name_the_parameter(bins, weights):
    with pytest.raises((ValueError, TypeError), match="sample_weight"):
        learn(np.array([[0.5], [1.5], [2.5]]), sample_weight=weights, bins=bins)


@pytest.mark.parametrize("bins", ["quantile", "mdlp"])
def test_a_target_of_another_length_raises(bins):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        learn(np.array([[0.5], [1.5], [2.5]]), [0, 1], bins=bins)


def test_rows_without_a_class_are_dropped_with_a_warning():
    X = np.array([["a"], ["b"], ["c"]], object)
    with pytest.warns(UserWarning, match="1 rows? without a class"):
        assert learn(X, ["u", None, "v"]).columns[0].levels == ("a", "c")


# Missing values


@pytest.mark.parametrize(
    "X",
    [np.array([["b"], [None], ["a"]], object), np.array([[2.0], [np.nan], [1.0]]), np.array([[2.5], [np.nan], [1.5]])],
)
def test_missing_as_a_state_is_the_last_level(X):
    schema = learn(X, missing="state", n_bins=2)
    assert schema.columns[0].missing
    assert schema.encode(X).tolist() == [[1, 2, 0]]
    assert schema.columns[0].labels[-1] == "(missing)"


def test_a_column_without_missing_values_has_no_state_and_later_ones_are_marginalized():
    schema = learn(np.array([["b"], ["a"]], object), missing="state")
    assert not schema.columns[0].missing
    assert schema.encode(np.array([["a"], [None]], object)).tolist() == [[0, 255]]


def test_an_unseen_label_does_not_get_the_missing_state():
    schema = learn(np.array([["b"], [None], ["a"]], object), missing="state")
    assert schema.encode(np.array([["z"], [None]], object)).tolist() == [[255, 2]]


# Many levels


def test_the_rarest_levels_are_merged_and_unseen_labels_join_them():
    X = text(("e", 1), ("d", 1), ("c", 3), ("b", 4), ("a", 5))
    with pytest.warns(UserWarning, match=r"column 'x0' has 5 levels: the rarest 3 are merged into one \(max_levels\)"):
        schema = learn(X, max_levels=3)
    assert schema.columns[0] == Category("x0", ("a", "b"), other=True)
    assert schema.encode(np.array([["a"], ["b"], ["c"], ["e"], ["zz"], [None]], object)).tolist() == [
        [0, 1, 2, 2, 2, 255]
    ]


def test_of_equally_rare_levels_the_first_in_order_remains():
    with pytest.warns(UserWarning, match="x0"):
        schema = learn(text(("d", 2), ("b", 2), ("c", 2), ("a", 2)), max_levels=3)
    assert schema.columns[0].levels == ("a", "b")


def test_max_levels_levels_are_not_merged():
    schema = learn(text(("c", 3), ("b", 2), ("a", 3)), max_levels=3)
    assert schema.columns[0] == Category("x0", ("a", "b", "c"))


def test_the_missing_state_counts_towards_max_levels():
    X = text(("c", 3), ("b", 2), ("a", 3), (None, 2))
    with pytest.warns(UserWarning, match="the rarest 2 are merged into one"):
        schema = learn(X, max_levels=3, missing="state")
    assert schema.columns[0].arity == 3
    assert schema.encode(np.array([["a"], ["b"], ["c"], [None], ["z"]], object)).tolist() == [[0, 1, 1, 2, 1]]


def test_rarity_is_measured_by_weight():
    X = text(("a", 1), ("b", 1), ("c", 1))
    with pytest.warns(UserWarning, match="x0"):
        schema = learn(X, max_levels=2, sample_weight=[1.0, 1.0, 5.0])
    assert schema.columns[0].levels == ("c",)


def test_rare_levels_of_declared_numeric_categories_are_merged():
    X = np.repeat([0.5, 1.5, 2.5, 3.5], [9, 8, 2, 1]).reshape(-1, 1)
    with pytest.warns(UserWarning, match="x0"):
        schema = learn(X, max_levels=3, categorical="all")
    assert schema.encode(np.array([[0.5], [1.5], [2.5], [99.5], [np.nan]])).tolist() == [[0, 1, 2, 2, 255]]


def test_with_a_merged_level_no_label_is_unseen():
    X = text(("a", 3), ("b", 2), ("c", 1), ("d", 1))
    with pytest.warns(UserWarning, match="are merged into one"):
        schema = learn(X, max_levels=3, unseen="error")
    assert schema.encode(np.array([["zz"]], object)).tolist() == [[2]]


def test_more_than_255_levels_take_codes_of_two_bytes():
    X = np.repeat([f"v{i:03}" for i in range(300)], 3).reshape(-1, 1)
    schema = learn(X, max_levels=300)
    codes = schema.encode(np.array([["v299"], ["v000"], ["new"]]))
    assert codes.dtype == np.uint16
    assert codes.tolist() == [[299, 0, 65535]]
    with pytest.warns(UserWarning, match="column 'x0' has 300 levels: the rarest 46 are merged into one"):
        assert learn(X).arity.tolist() == [255]


def test_a_category_of_255_levels_still_takes_one_byte():
    X = np.repeat(np.arange(255), 3).reshape(-1, 1)
    schema = learn(X, categorical="all")
    codes = schema.encode(np.array([[254], [255], [0]]))
    assert (codes.dtype, codes.tolist()) == (np.uint8, [[254, 255, 0]])
    assert schema.arity.tolist() == [255]


def test_a_category_with_more_levels_than_half_the_rows_warns_of_an_identifier():
    X = pd.DataFrame({"id": [f"p{i}" for i in range(20)], "sex": ["f", "m"] * 10})
    with pytest.warns(UserWarning, match="column 'id' has 20 levels in 20 rows: it looks like an identifier; drop it"):
        learn(X)


def test_half_as_many_levels_as_rows_do_not_warn():
    learn(pd.DataFrame({"id": [f"p{i}" for i in range(20)] * 2}))


def test_warnings_point_at_the_callers_line():
    X = pd.DataFrame({"id": [f"p{i}" for i in range(20)]})
    with pytest.warns(UserWarning, match="identifier") as caught:
        Encoder().fit(X, [0, 1] * 10)
    assert caught[0].filename == __file__


# scikit-learn API


def test_an_encoder_can_be_cloned_and_set():
    encoder = clone(Encoder(categorical=["a"], bins="mdlp")).set_params(n_bins=7)
    assert encoder.get_params() == {
        "categorical": ["a"],
        "bins": "mdlp",
        "n_bins": 7,
        "max_levels": 255,
        "missing": "auto",
        "unseen": "marginalize",
        "coerce": False,
        "dates": "expand",
        "identifiers": "keep",
        "keep": (),
    }


def test_a_failed_fit_leaves_an_encoder_as_it_was():
    encoder = Encoder().fit(MIXED, [0, 1, 0, 1])
    before = dict(encoder.__dict__)
    with pytest.raises(ValueError, match="infinity"):
        encoder.fit(MIXED.assign(real=[np.inf, 1.5, 2.5, 3.5]), [0, 1, 0, 1])
    assert encoder.__dict__ == before


@pytest.mark.filterwarnings("ignore")
def test_every_check_of_scikit_learn_passes():
    outcome = check_estimator(Encoder(), on_skip=None, on_fail=None)
    assert len(outcome) > 40
    failed = [(c["check_name"], repr(c["exception"])) for c in outcome if c["status"] not in ("passed", "skipped")]
    assert failed == []
    # The only check that is skipped needs an environment variable.
    assert {c["check_name"] for c in outcome if c["status"] == "skipped"} <= {"check_array_api_input"}


def test_the_columns_seen_are_those_of_the_last_fit():
    encoder = Encoder().fit(MIXED, [0, 1, 0, 1])
    assert encoder.n_features_in_ == MIXED.shape[1]
    assert encoder.feature_names_in_.tolist() == MIXED.columns.tolist()
    encoder.fit([[1, 2], [3, 4]], [0, 1])
    assert encoder.n_features_in_ == 2
    assert not hasattr(encoder, "feature_names_in_")


@pytest.mark.parametrize("X", [np.empty((0, 3)), np.empty((3, 0)), pd.DataFrame({"a": []})])
def test_a_table_without_rows_or_columns_is_refused(X):
    with pytest.raises(ValueError, match=r"^Found array with 0 (sample|feature)\(s\)"):
        Encoder().fit(X, np.arange(len(X)))


def test_learning_does_not_change_the_table():
    X = np.array([[3.5, 1.0], [np.nan, 2.0], [1.5, 1.0]])
    before = X.copy()
    learn(X).encode(X)
    assert np.array_equal(X, before, equal_nan=True)


@pytest.mark.parametrize("seed", range(3))
def test_row_order_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(list("xyz"), 60), "c": rng.integers(0, 30, 60)})
    y = rng.integers(0, 3, 60)
    order = rng.permutation(60)
    for bins in ("quantile", "width", "mdlp"):
        assert learn(X, y, bins=bins) == learn(X.iloc[order], y[order], bins=bins)

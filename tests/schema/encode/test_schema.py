import datetime
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import Encoder, InputColumn, Recipe, Schema
from tanbark.schema import Category, Number

QUICK = settings(deadline=None, database=None, max_examples=60)
PEOPLE = Schema(
    [Category("sex", ("f", "m")), Number("age", (30, 50), 18, 90), Category("rooms", (1, 2, 3), missing=True)],
    classes=("no", "yes"),
    class_name="buys",
)


def people(sex, age, rooms):
    return pd.DataFrame({"sex": sex, "age": age, "rooms": rooms})


def through_json(schema):
    return Schema.from_dict(json.loads(json.dumps(schema.to_dict())))


def test_an_explicit_schema_encodes_column_by_column():
    codes = PEOPLE.encode(people(["m", None, "f"], [30, 30.5, np.nan], [3, None, 9]))
    assert codes.tolist() == [[1, 255, 0], [0, 1, 255], [2, 3, 255]]
    assert codes.dtype == np.uint8
    assert codes.flags.c_contiguous


def test_arities_and_offsets_of_the_columns():
    assert PEOPLE.arity.tolist() == [2, 3, 4]
    assert PEOPLE.offset.tolist() == [0, 2, 5, 9]
    assert PEOPLE.names == ("sex", "age", "rooms")
    assert (PEOPLE.index("age"), PEOPLE.missing_code) == (1, 255)


def test_an_unknown_column_raises_and_lists_the_known_ones():
    with pytest.raises(ValueError, match="no column is named 'zip'; the columns are 'sex', 'age', 'rooms'"):
        PEOPLE.index("zip")


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
@pytest.mark.usefixtures("threads_for_few_rows")
def test_threads_do_not_change_the_codes(n_jobs):
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 300, (12_000, 3))
    schema = Schema(
        [Category("a", tuple(range(0, 200, 7))), Number("b", (5, 100)), Category("c", (1,), other=True)], (0, 1)
    )
    level = {v: i for i, v in enumerate(range(0, 200, 7))}
    expected = [
        [level.get(v, 255) for v in X[:, 0].tolist()],
        np.searchsorted([5, 100], X[:, 1], side="left").tolist(),
        [0 if v == 1 else 1 for v in X[:, 2].tolist()],
    ]
    assert schema.encode(X, n_jobs).tolist() == expected


@QUICK
@given(
    st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=2), min_size=1, max_size=12),
    st.lists(st.integers(0, 4), min_size=1, max_size=5, unique=True),
    st.booleans(),
    st.sampled_from([1, 80]),
)
def test_small_integers_are_encoded_like_the_same_numbers_as_floats_and_objects(rows, levels, other, times):
    schema = Schema([Category("a", tuple(levels), other=other), Number("b", (1.5, 3))], (0, 1))
    X = np.repeat(np.array(rows), times, axis=0)
    expected = [
        [levels.index(v) if v in levels else (len(levels) if other else 255) for v in X[:, 0].tolist()],
        [(v > 1.5) + (v > 3) for v in X[:, 1].tolist()],
    ]
    for form in (X, X.astype(np.float64), X.astype(np.float32), X.astype(object), X.astype(np.uint8), X + 0.0):
        assert schema.encode(form).tolist() == expected


# Errors


def test_an_unseen_label_raises_and_names_the_column_under_unseen_error():
    for column, good, bad in [
        (Category("a", (0, 1)), 1, 2),
        (Category("a", (0, 1)), 1.0, 0.5),
        (Category("a", ("x",)), "x", "y"),
    ]:
        schema = Schema([column], (0, 1), unseen="error")
        assert schema.encode([[good]]).tolist() == [[list(column.levels).index(good)]]
        with pytest.raises(ValueError, match=r"^column 'a' holds .*not seen in training"):
            schema.encode([[good], [bad]])


def test_a_missing_value_is_not_an_unseen_one():
    schema = Schema([Category("a", ("x",)), Category("b", (1,))], (0, 1), unseen="error")
    assert schema.encode(np.array([[None, np.nan], ["x", 1]], object)).tolist() == [[255, 0], [255, 0]]


def test_a_declared_level_that_does_not_occur_is_not_unseen():
    schema = Schema([Category("a", ("x",))], (0, 1), unseen="error")
    X = pd.DataFrame({"a": pd.Categorical(["x", None], ["w", "x", "y"])})
    assert schema.encode(X).tolist() == [[0, 255]]


@pytest.mark.parametrize("age", [["old", "young"], [None, "30"]])
@pytest.mark.parametrize("times", [1, 50])
def test_text_in_a_numeric_column_raises_and_names_the_column(age, times):
    with pytest.raises(
        ValueError, match=r"^column 'age' holds text, but the schema expects numbers; convert the column$"
    ):
        PEOPLE.encode(people(["m", "f"], age, [1, 2]).loc[np.repeat([0, 1], times)])


@pytest.mark.parametrize("sex", [[0, 1], [0.5, 1.5], [None, 1.0], [True, False], [10**6, 0]])
@pytest.mark.parametrize("times", [1, 50])
def test_numbers_in_a_text_column_raise_and_name_the_column(sex, times):
    with pytest.raises(
        ValueError, match=r"^column 'sex' holds numbers, but the schema expects text; convert the column$"
    ):
        PEOPLE.encode(people(sex, [30, 50], [1, 2]).loc[np.repeat([0, 1], times)])


@pytest.mark.parametrize(
    "absent", [[None, None], [np.nan, np.nan], pd.array([None, None], "Int64"), pd.array([None, None], "string")]
)
def test_a_column_of_missing_values_is_accepted_as_text_or_numbers(absent):
    codes = PEOPLE.encode(people(absent, absent, absent))
    assert codes.tolist() == [[255, 255], [255, 255], [3, 3]]


def test_declared_labels_that_do_not_occur_do_not_make_a_column_text():
    codes = PEOPLE.encode(people(["f"], pd.Categorical([None], ["young", "old"]), [1]))
    assert codes.tolist() == [[0], [255], [0]]


def test_an_infinite_number_raises_and_names_the_column_when_encoding():
    for X in (people(["m"], [np.inf], [1]), people(["m"], pd.Categorical([np.inf]), [1])):
        with pytest.raises(ValueError, match=r"column 'age'.*infinity"):
            PEOPLE.encode(X)


def test_a_table_with_other_columns_raises():
    X = people(["m"], [1], [1])
    with pytest.raises(ValueError, match="the table has 2 columns, but the schema has 3"):
        PEOPLE.encode(X[["sex", "age"]])
    with pytest.raises(
        ValueError, match="unexpected column 'rooms'; the schema expects, in this order: sex, age, rooms"
    ):
        PEOPLE.encode(X[["sex", "rooms", "age"]])


def test_a_table_without_names_is_taken_in_order():
    assert PEOPLE.encode([["m", 60.5, 1]]).tolist() == [[1], [2], [0]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Schema([Category("a", (0, 1))] * 2, (0, 1)), "two columns are named 'a'; rename one"),
        (lambda: Schema([Category("class", (0, 1))], (0, 1)), "the class and a column are both named 'class'"),
        (lambda: Schema([Category("a", (0, 1))], (0, 1, 0)), "duplicate class 0; list each class once"),
        (lambda: Schema([Category("a", (0, 1))], (0, 1), unseen="drop"), "unseen must be .* got 'drop'"),
    ],
)
def test_an_invalid_schema_raises(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_more_levels_than_codes_raise_instead_of_wrapping():
    with pytest.raises(ValueError, match="column 'a'"):
        Schema([Category("a", tuple(range(65_537)))], (0, 1)).encode([[65_536]])


# JSON


@pytest.mark.parametrize(
    "y",
    [
        [1, 2],
        ["1", "2"],
        [True, False],
        np.array([1.0, 2.0]),
        np.array([1, 2], np.float32),
        np.array([1, 2], np.int8),
        np.array([1, 2], np.uint64),
        np.array(["a", "bbb"]),
        np.array(["a", "bbb"], object),
        pd.Series(["a", "bbb"]),
        pd.Categorical(["a", "bbb"]),
    ],
)
def test_classes_survive_json_with_their_type(y):
    schema = Encoder().fit([[1], [2]], y).schema_
    again = through_json(schema)
    assert again == schema
    assert hash(again) == hash(schema)
    assert again.class_labels.dtype == schema.class_labels.dtype
    assert again.class_labels.tolist() == schema.class_labels.tolist()
    assert [type(c) for c in again.classes] == [type(c) for c in schema.classes]


@pytest.mark.parametrize("y", [[3, 1], ["q", "p"], [True, False], np.array([2.0, 1.0]), np.array([2, 1], np.int8)])
def test_classes_keep_their_dtype(y):
    labels = Encoder().fit([[1], [2]], y).schema_.class_labels
    assert labels.dtype == np.asarray(y).dtype
    assert labels.tolist() == sorted(np.asarray(y).tolist())


def test_labels_survive_json_with_their_type():
    levels = [(1, 2), ("1", "2"), (False, True), (1.5, 2.0), ("", "NA", "nan")]
    schema = Schema(
        [Category(f"c{u}", v) for u, v in enumerate(levels)] + [Number("n", (0.1, 1 / 3), -1e-300, 1e300)], (0,)
    )
    again = through_json(schema)
    assert again == schema
    for column, before in zip(again.columns, levels, strict=False):
        assert [(type(v), v) for v in column.levels] == [(type(v), v) for v in before]


def test_everything_else_survives_json():
    schema = Schema(PEOPLE.columns, ("a", 1), "target", "error", named=False)
    assert through_json(schema) == schema
    assert through_json(schema).to_dict() == schema.to_dict()


def test_equal_schemas_have_equal_hashes():
    again = Schema(list(PEOPLE.columns), ["no", "yes"], "buys")
    assert again == PEOPLE
    assert len({again, PEOPLE}) == 1
    assert PEOPLE.offset is not None  # cached values do not affect equality
    assert again == PEOPLE
    assert hash(again) == hash(PEOPLE)
    for other in (
        Schema(PEOPLE.columns[:2], ("no", "yes"), "buys"),
        Schema(PEOPLE.columns, ("yes", "no"), "buys"),
        Schema(PEOPLE.columns, ("no", "yes"), "sells"),
        Schema(PEOPLE.columns, ("no", "yes"), "buys", unseen="error"),
    ):
        assert other != PEOPLE


def test_a_schema_is_immutable():
    with pytest.raises(AttributeError):
        PEOPLE.classes = ()


# Merging


@QUICK
@given(
    st.sets(st.sampled_from("abcdef")),
    st.sets(st.sampled_from("abcdef")),
    st.sets(st.integers(0, 4)),
    st.sets(st.integers(0, 4)),
    st.booleans(),
    st.booleans(),
)
def test_merging_sorted_schemas_gives_the_sorted_union_either_way(levels, more, classes, others, shared, state):
    a = Schema(
        [Category("x", tuple(sorted(levels)), other=shared), Number("n", (1,), 0, 5)],
        tuple(sorted(classes)),
        class_dtype="<i8",
    )
    b = Schema(
        [Category("x", tuple(sorted(more)), missing=state), Number("n", (1,), -1, 3)],
        tuple(sorted(others)),
        class_dtype="<i8",
    )
    merged = a.merge(b)
    assert merged == b.merge(a)
    assert merged.columns == (Category("x", tuple(sorted(levels | more)), shared, state), Number("n", (1,), -1, 5))
    assert merged.classes == tuple(sorted(classes | others))


def test_merging_keeps_a_declared_order():
    a = Schema([Category("x", ("low", "mid"))], (0, 1))
    b = Schema([Category("x", ("mid", "high"))], (0, 1))
    assert a.merge(b).columns[0].levels == ("low", "mid", "high")


def test_merging_with_itself_changes_nothing():
    assert PEOPLE.merge(PEOPLE) == PEOPLE


def test_merging_does_not_truncate_long_class_names():
    a, b = (Encoder().fit([["p"], ["q"]], np.array(y)).schema_ for y in (["a", "b"], ["a", "longer"]))
    assert a.merge(b).class_labels.tolist() == ["a", "b", "longer"]


@pytest.mark.parametrize(
    ("mine", "yours", "message"),
    [
        (Category("x", ("p",)), Category("x", (1,)), "column 'x' holds text in one schema and numbers in the other"),
        (Number("x", (1,)), Number("x", (2,)), "column 'x' has different types or cut points in the two schemas"),
        (Number("x", (1,)), Category("x", (2,)), "column 'x' has different types or cut points in the two schemas"),
        (Category("x", ("p",)), Category("z", ("p",)), "the two schemas have different columns"),
    ],
)
def test_merging_incompatible_schemas_raises(mine, yours, message):
    with pytest.raises(ValueError, match=message):
        Schema([mine], (0, 1)).merge(Schema([yours], (0, 1)))


# Decoding


def test_decoding_gives_back_values_that_encode_to_the_same_codes():
    codes = np.array([[0, 1, 0, 1], [0, 1, 2, 1], [0, 1, 2, 0]], np.uint8)
    values = PEOPLE.decode(codes, random_state=0)
    assert values.shape == (4, 3)
    assert values.dtype == object
    assert np.array_equal(PEOPLE.encode(values), codes)
    ages = values[:, 1].astype(float)
    assert 18 <= ages[0] <= 30 < ages[1] <= 50 < ages[2] <= 90


def test_missing_codes_decode_to_missing_values():
    values = PEOPLE.decode(np.array([[255], [255], [3]], np.uint8), random_state=0)
    assert values[0, 0] is None
    assert np.isnan(values[0, 1])
    assert values[0, 2] is None


def test_decoding_only_numbers_gives_floats_that_the_seed_determines():
    schema = Schema([Number("a", (0.0,), -1, 1), Number("b", (), 5, 7)], (0, 1))
    codes = np.array([[0, 1, 255], [0, 0, 0]], np.uint8)
    values = schema.decode(codes, random_state=3)
    assert values.dtype == np.float64
    assert np.array_equal(values, schema.decode(codes, random_state=3), equal_nan=True)
    assert np.isnan(values[2, 0])
    assert ((values[:, 1] > 5) & (values[:, 1] <= 7)).all()


def test_the_target_is_encoded_by_the_schemas_classes():
    assert PEOPLE.encode_target(["yes", None, "no", "yes"]).tolist() == [1, -1, 0, 1]
    with pytest.raises(ValueError, match=r"unknown class 'maybe'; the known classes are 'no', 'yes'"):
        PEOPLE.encode_target(["yes", "maybe"])


# Dates and columns that are computed from others


def test_labels_of_dates_are_dates_with_the_time_only_if_a_cut_has_one():
    day = Number("seen", (19_783.0, 19_784.0), is_date=True)  # 54 years with 13 leap days, 31 + 29 days: 2024-03-01
    assert day.labels == ("<= 2024-03-01", "(2024-03-01, 2024-03-02]", "> 2024-03-02")
    hour = Number("seen", (19_783.0, 19_783.5), is_date=True)
    assert hour.labels == ("<= 2024-03-01 00:00", "(2024-03-01 00:00, 2024-03-01 12:00]", "> 2024-03-01 12:00")
    assert Number("seen", (), is_date=True).labels == ("any date",)
    assert Number("seen", (), is_date=True).texts_of([1e300, -1e300])[0].startswith("1")


def test_a_column_computed_from_an_unknown_column_raises():
    with pytest.raises(ValueError, match=r"^column 'b' is computed from 'a', but the recipe has no such column$"):
        Schema([Number("b", (1,), source="a")], ("no", "yes"))


def test_the_columns_of_a_recipe_are_those_of_the_schema():
    recipe = Recipe(inputs=[InputColumn("seen", "date", parts=["month"]), InputColumn("id", "ignored")])
    columns = [Number("seen", (1,), is_date=True), Category("seen (month)", ("Jan", "Feb"), source="seen")]
    schema = Schema(columns, ("no", "yes"), recipe=recipe)
    assert schema.input_names == ("seen", "id")
    assert schema.source_index.tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"^the columns of the schema are not those of its recipe$"):
        Schema(columns[:1], ("no", "yes"), recipe=recipe)


def test_samples_of_dates_are_datetimes_within_their_interval():
    schema = Schema([Number("seen", (0.5, 1.25), 0.0, 2.0, is_date=True)], ("no", "yes"))
    rows = schema.decode(np.array([[0, 1, 2, 255] * 25], np.uint8), 0)[:, 0]
    assert rows[3] is None
    ends = [datetime.datetime(1970, 1, 1), datetime.datetime(1970, 1, 1, 12), datetime.datetime(1970, 1, 2, 6)]
    ends.append(datetime.datetime(1970, 1, 3))
    for code in range(3):
        assert all(ends[code] <= row <= ends[code + 1] for row in rows[code::4])
    assert schema.encode(np.array([[row] for row in rows], object))[0].tolist() == [0, 1, 2, 255] * 25


def test_the_representation_of_a_schema_is_short():
    columns = [Category(f"column {u}", tuple(map(str, range(500)))) for u in range(30)]
    assert repr(Schema(columns, ("no", "yes"))) == "Schema(30 columns, 2 classes: 'no', 'yes')"
    assert repr(Schema(columns[:1], (0,))) == "Schema(1 column, 1 class: 0)"
    assert repr(Schema(columns[:2], tuple(range(26)))) == "Schema(2 columns, 26 classes: 0, 1, 2, 3, 4, ...)"

"""Every container of the same table gives the same levels and codes."""

import datetime
import math
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from tanbark import Encoder
from tanbark.schema.read.class_column import read_target
from tanbark.schema.read.raw_columns import is_missing
from tanbark.schema.read.table_reader import read_table

# One table: text, integers, booleans and floats with a missing value each, and integers without one.
TEXT = ["b", None, "a", "", "b", "c"]
WITH_MISSING = [3, 1, None, 1, -2, 3]
FLAG = [True, False, True, None, False, True]
REAL = [0.5, 1.5, None, 2.5, 3.5, 4.5]
WHOLE = [7, 7, 0, -1, 7, 0]
ROWS = list(zip(TEXT, WITH_MISSING, FLAG, REAL, WHOLE, strict=True))
Y = [0, 1, 0, 1, 0, 1]
LEVELS = [("", "a", "b", "c"), (-2, 1, 3), (False, True), (2.5,), (-1, 0, 7)]
MISSING = 255
CODES = [
    [2, MISSING, 1, 0, 2, 3],
    [2, 1, MISSING, 1, 0, 2],
    [1, 0, 1, MISSING, 0, 1],
    [0, 0, MISSING, 0, 1, 1],
    [2, 2, 1, 0, 2, 1],
]
COLUMNS = {"text": TEXT, "holed": WITH_MISSING, "flag": FLAG, "real": REAL, "whole": WHOLE}


def nan(values):
    return [math.nan if v is None else v for v in values]


def arrow(**types):
    return pa.table({n: pa.array(v, types.get(n)) for n, v in COLUMNS.items()})


def in_chunks(table):
    return pa.concat_tables([table.slice(0, 2), table.slice(2, 0), table.slice(2, 3), table.slice(5)])


def dictionaries_in_chunks():
    text = pa.chunked_array([pa.array(TEXT[:3]).dictionary_encode(), pa.array(TEXT[3:]).dictionary_encode()])
    return arrow().set_column(0, "text", text)


def pandas_nullable():
    return pd.DataFrame(
        {
            "text": pd.array(TEXT, "string[python]"),
            "holed": pd.array(WITH_MISSING, "Int64"),
            "flag": pd.array(FLAG, "boolean"),
            "real": pd.array(REAL, "Float64"),
            "whole": pd.array(WHOLE, "Int8"),
        }
    )


NAMED = {
    "pandas": lambda: pd.DataFrame({**COLUMNS, "holed": nan(WITH_MISSING), "real": nan(REAL)}),
    "pandas, objects": lambda: pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in COLUMNS.items()}),
    "pandas, nullable": pandas_nullable,
    "pandas, pyarrow text": lambda: pandas_nullable().astype({"text": "string[pyarrow]"}),
    "pandas, Arrow": lambda: arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, shuffled index": lambda: pd.DataFrame({**COLUMNS, "holed": nan(WITH_MISSING)}, index=[9, 3, 3, 0, 1, 2]),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars, small integers": lambda: pl.DataFrame(COLUMNS, schema_overrides={"holed": pl.Int8, "whole": pl.Int16}),
    "polars, Categorical": lambda: pl.DataFrame(COLUMNS, schema_overrides={"text": pl.Categorical}),
    "polars, chunks": lambda: pl.concat([pl.DataFrame(COLUMNS)[:2], pl.DataFrame(COLUMNS)[2:]], rechunk=False),
    "Arrow": arrow,
    "Arrow, large text": lambda: arrow(text=pa.large_string(), holed=pa.int8(), real=pa.float32()),
    "Arrow, text views": lambda: arrow(text=pa.string_view()),
    "Arrow, dictionary": lambda: arrow(text=pa.dictionary(pa.int8(), pa.string())),
    "Arrow, dictionary counted from zero up": lambda: arrow(text=pa.dictionary(pa.uint32(), pa.string())),
    "Arrow, dictionary of numbers": lambda: arrow(holed=pa.dictionary(pa.int32(), pa.int64())),
    "Arrow, decimals": lambda: arrow().set_column(
        3, "real", pa.array([None if v is None else Decimal(v) for v in REAL])
    ),
    "Arrow, chunks": lambda: in_chunks(arrow()),
    "Arrow, chunks of dictionaries": dictionaries_in_chunks,
    "Arrow, one batch": lambda: arrow().to_batches()[0],
    "DuckDB": lambda: duckdb.from_arrow(arrow()),
}
UNNAMED = {
    "list of rows": lambda: [list(row) for row in ROWS],
    "list of tuples": lambda: ROWS,
    "objects": lambda: np.array(ROWS, object),
    "objects, column by column": lambda: np.asfortranarray(np.array(ROWS, object)),
    "every other row": lambda: np.repeat(np.array(ROWS, object), 2, axis=0)[::2],
    "numpy scalars": lambda: np.array(
        [[np.str_(a) if a is not None else a, *map(scalar, r)] for a, *r in ROWS], object
    ),
    "pandas without names": lambda: pd.DataFrame(ROWS),
}


def scalar(value):
    return value if value is None else np.asarray(value)[()]


@pytest.fixture(autouse=True, params=[1, 30], ids=["short", "long"])
def times(request):
    """Read every table as it is and repeated thirty times: short and long tables take different code paths."""
    return request.param


def tiled(X, times):
    """Return a table repeated `times` times, in the same container."""
    if isinstance(X, list):
        return X * times
    if isinstance(X, pd.DataFrame):
        return X.iloc[np.tile(np.arange(len(X)), times)]
    if isinstance(X, pl.DataFrame):
        return pl.concat([X] * times, rechunk=False)
    if isinstance(X, pa.RecordBatch):
        return pa.concat_batches([X] * times)
    if isinstance(X, pa.Table):
        return pa.concat_tables([X] * times)
    if sparse.issparse(X):
        return sparse.vstack([X] * times)
    if isinstance(X, duckdb.DuckDBPyRelation):
        return duckdb.from_arrow(tiled(pa.table(X), times))
    return np.ma.concatenate([X] * times) if np.ma.isMaskedArray(X) else np.concatenate([X] * times)


def learned(X, y=Y, times=1, **settings):
    """Return the schema of a repeated table, its levels or cuts, and the codes of the table once."""
    rows = len(y)
    table = X if times == 1 else tiled(X, times)
    schema = Encoder(**settings).fit(table, list(y) * times).schema_
    codes = schema.encode(table)
    assert np.array_equal(codes, np.tile(codes[:, :rows], times))
    return schema, [c.levels if hasattr(c, "levels") else c.cuts for c in schema.columns], codes[:, :rows].tolist()


@pytest.mark.parametrize("make", [*NAMED, *UNNAMED])
def test_the_same_table_gives_the_same_levels_and_the_same_codes(make, times):
    _, levels, codes = learned((NAMED | UNNAMED)[make](), n_bins=2, times=times)
    assert levels == LEVELS
    assert [[type(v) for v in column] for column in levels] == [[type(v) for v in column] for column in LEVELS]
    assert codes == CODES


@pytest.mark.parametrize("make", NAMED)
def test_names_are_those_of_the_frame(make, times):
    schema, _, _ = learned(NAMED[make](), n_bins=2, times=times)
    assert (schema.names, schema.named) == (tuple(COLUMNS), True)


@pytest.mark.parametrize("make", UNNAMED)
def test_a_table_without_names_calls_its_columns_by_number(make, times):
    schema, _, _ = learned(UNNAMED[make](), n_bins=2, times=times)
    assert (schema.names, schema.named) == (("x0", "x1", "x2", "x3", "x4"), False)


@pytest.mark.parametrize("learn", NAMED)
def test_a_schema_learned_from_one_container_encodes_another(learn, times):
    schema, _, _ = learned(NAMED[learn](), n_bins=2, times=times)
    for make in ("pandas", "Arrow", "polars"):
        assert schema.encode(NAMED[make]()).tolist() == CODES


# Integers


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u2"])
def test_integers_of_every_size_are_the_same_levels(dtype, times):
    _, levels, codes = learned(np.array([[1, 100], [2, 3], [1, 7], [3, 100]], dtype), [0, 1, 0, 1], times=times)
    assert levels == [(1, 2, 3), (3, 7, 100)]
    assert codes == [[0, 1, 0, 2], [2, 0, 1, 2]]


EXTREMES = [[-(2**63)], [2**63 - 1], [0], [2**62], [2**62 + 1], [2**62]]


@pytest.mark.parametrize(
    "make", [np.array, lambda v: pd.DataFrame(v, columns=["a"]), lambda v: pa.table({"a": [row[0] for row in v]})]
)
def test_huge_integers_stay_distinct(make, times):
    _, levels, codes = learned(make(EXTREMES), times=times)
    assert levels == [(-(2**63), 0, 2**62, 2**62 + 1, 2**63 - 1)]
    assert codes == [[0, 4, 1, 2, 3, 2]]


def test_huge_integers_stay_distinct_next_to_unsigned_ones(times):
    X = pd.DataFrame({"a": [2**62, 2**62 + 1, 1], "b": np.array([1, 2, 3], np.uint64)})
    _, levels, codes = learned(X, [0, 1, 0], times=times)
    assert levels == [(1, 2**62, 2**62 + 1), (1, 2, 3)]
    assert codes == [[1, 2, 0], [0, 1, 2]]


SLICEABLE = [
    make
    for make, table in (NAMED | UNNAMED).items()
    if isinstance(table(), np.ndarray | pd.DataFrame | pl.DataFrame | pa.Table | list)
]


@pytest.mark.parametrize("make", SLICEABLE)
def test_the_codes_of_a_row_do_not_depend_on_other_rows(make, times):
    schema, _, _ = learned(NAMED["pandas"](), n_bins=2, times=times)
    table = (NAMED | UNNAMED)[make]()
    for row in range(6):
        one = table.iloc[row : row + 1] if isinstance(table, pd.DataFrame) else table[row : row + 1]
        assert schema.encode(one)[:, 0].tolist() == [column[row] for column in CODES]


def test_a_late_integer_far_from_the_first_thousand_is_read_correctly(times):
    for first, last in [(5, 300), (2**63 - 1, -(2**63)), (-(2**63), 2**63 - 1), (0, -1), (255, -1)]:
        X = np.array([[first]] * 1000 + [[last]])
        _, levels, codes = learned(X, [0] * 1001, times=times)
        assert levels == [tuple(sorted([first, last]))]
        assert codes[0][0] != codes[0][-1]


def test_unsigned_integers_above_the_signed_range_stay_distinct(times):
    _, levels, codes = learned(np.array([[2**63], [2**63 + 1], [2**64 - 1], [1]], np.uint64), [0, 1, 0, 1], times=times)
    assert levels == [(1, 2**63, 2**63 + 1, 2**64 - 1)]
    assert codes == [[1, 2, 3, 0]]


@pytest.mark.parametrize(
    "make",
    [
        lambda v: pd.DataFrame({"a": pd.array(v, "Int64")}),
        lambda v: pl.DataFrame({"a": v}),
        lambda v: pa.table({"a": v}),
        lambda v: np.array(v, object).reshape(-1, 1),
    ],
)
def test_huge_integers_next_to_missing_values_stay_distinct(make, times):
    _, levels, codes = learned(make([2**62, 2**62 + 1, None, 1]), [0, 1, 0, 1], times=times)
    assert levels == [(1, 2**62, 2**62 + 1)]
    assert codes == [[1, 2, MISSING, 0]]


def test_the_code_of_a_huge_integer_does_not_depend_on_other_rows(times):
    schema, _, _ = learned(np.array([[2**62], [2**62 + 1]]), [0, 1], times=times)
    alone = schema.encode(np.array([[2**62 + 1]]))[0, 0]
    crowd = schema.encode(np.array([[2**62 + 1], *([1000 * i] for i in range(12))]))[0, 0]
    assert alone == crowd == 1


def test_many_integers_with_a_wide_range_are_numbers(times):
    X = np.arange(0, 3000, 100).reshape(-1, 1)
    _, levels, codes = learned(X, [0, 1] * 15, n_bins=3, times=times)
    assert levels == [(900.0, 1900.0)]
    assert codes == [[0] * 10 + [1] * 10 + [2] * 10]


def test_a_slice_that_is_not_contiguous_reads_as_its_copy(times):
    whole = np.arange(120).reshape(12, 10) % 7
    for view in (whole[::2, 1::3], whole.T[:, ::-1], whole[::-1], np.asfortranarray(whole)):
        y = np.arange(len(view)) % 2
        assert learned(view, y, times=times)[1:] == learned(view.copy(), y, times=times)[1:]


# Floats


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_floats_of_every_dtype_and_order_give_the_same_cuts(dtype, order, times):
    X = np.array([[0.5, 3], [1.5, np.nan], [np.nan, 4], [2.5, 4], [3.5, 3]], dtype, order=order)
    _, levels, codes = learned(X, [0, 1, 0, 1, 0], n_bins=2, times=times)
    assert levels == [(1.5,), (3, 4)]
    assert codes == [[0, 0, MISSING, 1, 1], [0, MISSING, 1, 1, 0]]


def test_floats_in_a_slice_that_is_not_contiguous_read_as_their_copy(times):
    whole = np.random.default_rng(0).normal(size=(20, 9))
    for view in (whole[::2, 1::3], whole.T[:, ::-1], whole[::-1]):
        y = np.arange(len(view)) % 2
        assert learned(view, y, times=times)[1:] == learned(view.copy(), y, times=times)[1:]


def test_read_only_floats_are_read(times):
    X = np.arange(8.0).reshape(4, 2) + 0.5
    X.flags.writeable = False
    assert learned(X, [0, 1, 0, 1], n_bins=2, times=times)[1] == [(2.5,), (3.5,)]


@pytest.mark.parametrize("infinite", [math.inf, -math.inf])
@pytest.mark.parametrize(
    "make",
    [
        lambda v: pd.DataFrame({"pay": v}),
        lambda v: pd.DataFrame({"pay": pd.array(v, "Float64")}),
        lambda v: pd.DataFrame({"pay": pd.Series(v, dtype=object)}),
        lambda v: pd.DataFrame({"pay": pd.Categorical(v)}),
        lambda v: pl.DataFrame({"pay": v}),
        lambda v: pa.table({"pay": v}),
        lambda v: duckdb.from_arrow(pa.table({"pay": v})),
    ],
)
def test_an_infinite_number_raises_and_names_the_column(make, infinite, times):
    for rest in ([1.0, 2.0], [1.5, 2.5], [1.5, None]):
        with pytest.raises(ValueError, match=r"column 'pay'.*infinity"):
            learned(make([infinite, *rest]), [0, 1, 0], times=times)


# Text and objects


@pytest.mark.parametrize(
    "X",
    [
        np.array([["b", "1"], ["a", "2"], ["", "1"]]),
        np.array([["b", "1"], ["a", "2"], ["", "1"]], np.dtypes.StringDType()),
        np.array([["b", "1"], ["a", "2"], ["", "1"]], object),
        [["b", "1"], ["a", "2"], ["", "1"]],
    ],
)
def test_text_is_always_a_category_and_an_empty_text_is_a_value(X, times):
    _, levels, codes = learned(X, [0, 1, 0], times=times)
    assert levels == [("", "a", "b"), ("1", "2")]
    assert {type(v) for column in levels for v in column} == {str}
    assert codes == [[2, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize("absent", [None, math.nan, pd.NA])
def test_numpys_own_text_may_be_missing(absent, times):
    X = np.array([["b"], [absent], ["a"]], np.dtypes.StringDType(na_object=absent))
    assert learned(X, [0, 1, 0], times=times)[1:] == ([("a", "b")], [[1, MISSING, 0]])


def test_numbers_in_a_list_of_rows_stay_numbers_next_to_text(times):
    _, levels, codes = learned([["u", 0.5], ["v", 1.5], ["u", 2.5], ["v", 3.5]], [0, 1, 0, 1], n_bins=2, times=times)
    assert levels == [("u", "v"), (1.5,)]
    assert codes == [[0, 1, 0, 1], [0, 0, 1, 1]]


def test_a_missing_value_in_a_list_of_rows_does_not_change_the_type_of_other_columns(times):
    schema, _, _ = learned([["u", 1], ["v", 2], ["u", 3]], [0, 1, 0], times=times)
    assert schema.encode([["u", 2], [None, 1]]).tolist() == [[0, MISSING], [1, 0]]


def test_booleans_are_always_a_category(times):
    for X in (np.array([[True], [False], [True]]), pl.DataFrame({"a": [True, False, True]})):
        _, levels, codes = learned(X, [0, 1, 0], categorical=[], times=times)
        assert levels == [(False, True)]
        assert {type(v) for v in levels[0]} == {bool}
        assert codes == [[1, 0, 1]]


def test_objects_that_are_all_numbers_are_numbers(times):
    values = [1, 2.5, np.float32(3.5), Decimal("4.5"), None, np.int8(6)]
    _, levels, codes = learned(np.array(values, object).reshape(-1, 1), Y, n_bins=2, times=times)
    assert levels == [(3.5,)]
    assert codes == [[0, 0, 0, 1, MISSING, 1]]


@pytest.mark.parametrize(
    "absent", [None, math.nan, np.float32("nan"), np.datetime64("NaT", "ns"), pd.NaT, pd.NA, Decimal("NaN")]
)
def test_every_missing_value_marker_is_missing(absent, times):
    assert is_missing(absent)
    for value in ("x", 1.5):
        X = np.empty((3, 1), object)
        X[:, 0] = [value, absent, value]
        assert learned(X, [0, 1, 0], times=times)[2] == [[0, MISSING, 0]]


@pytest.mark.parametrize("value", ["", "nan", "None", "NA", 0, 0.0, False])
def test_other_values_are_not_missing(value):
    assert not is_missing(value)


def test_masked_values_are_missing_or_raise_but_are_never_read(times):
    masked = np.ma.array([[1.5, 2.5], [3.5, 4.5]], mask=[[True, False], [False, False]])
    try:
        codes = learned(masked, [0, 1], times=times)[2]
    except (TypeError, ValueError):
        return
    assert codes[0][0] == MISSING


# Declared categories


@pytest.mark.parametrize("ordered", [False, True])
def test_declared_levels_all_count_and_keep_their_order(ordered, times):
    column = pd.Categorical(["low", None, "high", "low"], ["low", "mid", "high"], ordered=ordered)
    assert learned(pd.DataFrame({"a": column}), [0, 1, 0, 1], times=times)[1:] == (
        [("low", "mid", "high")],
        [[0, MISSING, 2, 0]],
    )


def test_declared_numbers_keep_their_type_and_order(times):
    _, levels, codes = learned(pd.DataFrame({"a": pd.Categorical([3, None, 1], [5, 3, 1])}), [0, 1, 0], times=times)
    assert levels == [(5, 3, 1)]
    assert {type(v) for v in levels[0]} == {int}
    assert codes == [[1, MISSING, 2]]


@pytest.mark.parametrize("values", [["low", None, "high"], ["low", "high", "high"], [None, None, None]])
def test_a_polars_enum_keeps_all_levels_in_order(values, times):
    X = pl.DataFrame({"a": pl.Series(values, dtype=pl.Enum(["low", "mid", "high"]))})
    expected = [{"low": 0, "high": 2, None: MISSING}[v] for v in values]
    assert learned(X, [0, 1, 0], times=times)[1:] == ([("low", "mid", "high")], [expected])


def test_a_polars_categorical_without_missing_values_is_text(times):
    X = pl.DataFrame({"a": pl.Series(["q", "p", "q"], dtype=pl.Categorical)})
    assert learned(X, [0, 1, 0], times=times)[1:] == ([("p", "q")], [[1, 0, 1]])


def test_an_arrow_dictionary_may_contain_duplicates_or_nulls(times):
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", "b", "a"]))
    assert learned(pa.table({"q": twice}), [0, 1, 0, 1], times=times)[1:] == ([("a", "b")], [[0, 1, 0, 0]])
    null = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", None, "b"]))
    assert learned(pa.table({"q": null}), [0, 1, 0, 1], times=times)[1:] == ([("a", "b")], [[0, MISSING, 1, 0]])


def test_declared_numbers_mixed_with_text_raise_and_name_the_column(times):
    with pytest.raises(ValueError, match="column 'q' mixes numbers with strings"):
        learned(pd.DataFrame({"q": pd.Categorical(["a", 1, 2.5])}), [0, 1, 0], times=times)


# Columns of missing values


@pytest.mark.parametrize(
    "X",
    [
        np.full((3, 1), np.nan),
        np.full((3, 1), None),
        pd.DataFrame({"a": [None] * 3}),
        pd.DataFrame({"a": pd.array([pd.NA] * 3, "Int64")}),
        pd.DataFrame({"a": pd.array([pd.NA] * 3, "boolean")}),
        pd.DataFrame({"a": pd.array([pd.NA] * 3, "string")}),
        pl.DataFrame({"a": [None] * 3}),
        pl.DataFrame({"a": pl.Series([None] * 3, dtype=pl.Categorical)}),
        pa.table({"a": pa.nulls(3)}),
        pa.table({"a": pa.nulls(3, pa.dictionary(pa.int8(), pa.string()))}),
    ],
)
def test_a_column_of_missing_values_has_one_code_and_no_row_has_it(X, times):
    schema, _, codes = learned(X, [0, 1, 0], times=times)
    assert schema.arity.tolist() == [1]
    assert codes == [[MISSING] * 3]
    schema, _, codes = learned(X, [0, 1, 0], missing="state", times=times)
    assert schema.arity.tolist() == [1]
    assert codes == [[0] * 3]


# Dates and times

DAY = datetime.date(2020, 2, 3)
DAYS = 18_295.0  # From 1970-01-01 to 2020-02-03: 50 years of 365 days, 12 leap days, 31 days of January and 2.
DATES = {
    "pandas": lambda: pd.DataFrame({"when": pd.to_datetime([DAY] * 3)}),
    "pandas, zone": lambda: pd.DataFrame(
        {"when": pd.to_datetime([DAY] * 3).tz_localize("UTC").tz_convert("Asia/Tokyo")}
    ),
    "pandas, periods": lambda: pd.DataFrame({"when": pd.period_range("2020-02-03", periods=3, freq="D")}),
    "pandas, objects": lambda: pd.DataFrame({"when": pd.Series([DAY] * 3, dtype=object)}),
    "pandas, declared": lambda: pd.DataFrame({"when": pd.Categorical(pd.to_datetime([DAY] * 3))}),
    "polars": lambda: pl.DataFrame({"when": [DAY] * 3}),
    "Arrow": lambda: pa.table({"when": [DAY] * 3}),
    "Arrow, dictionary": lambda: pa.table({"when": pa.array([DAY] * 3).dictionary_encode()}),
    "DuckDB": lambda: duckdb.from_arrow(pa.table({"when": [DAY] * 3})),
    "NumPy": lambda: np.array([["2020-02-03"]] * 3, "M8[D]"),
}


@pytest.mark.parametrize("make", DATES)
def test_dates_become_days_since_1970(make, times):
    schema, _, _ = learned(DATES[make](), [0, 1, 0], times=times)
    assert [(column.is_date, column.low) for column in schema.columns if not column.source] == [(True, DAYS)]


@pytest.mark.parametrize("make", DATES)
def test_dates_raise_if_they_are_errors(make, times):
    with pytest.raises(
        TypeError, match=r"column '(when|x0)' holds dates or times; convert it to numbers .* or drop it$"
    ):
        learned(DATES[make](), [0, 1, 0], times=times, dates="error")


SPANS = {
    "pandas, spans": (lambda: pd.DataFrame({"when": pd.to_timedelta([1.5] * 3, unit="D")}), 1.5),
    "polars, spans": (lambda: pl.DataFrame({"when": [datetime.timedelta(1.5)] * 3}), 1.5),
    "Arrow, spans": (lambda: pa.table({"when": [datetime.timedelta(1.5)] * 3}), 1.5),
    "polars, times": (lambda: pl.DataFrame({"when": [datetime.time(6, 15)] * 3}), 6.25),
    "Arrow, times": (lambda: pa.table({"when": [datetime.time(6, 15)] * 3}), 6.25),
}


@pytest.mark.parametrize("make", SPANS)
def test_durations_are_numbers_of_days_and_times_of_day_are_numbers_of_hours(make, times):
    table, expected = SPANS[make]
    schema, _, _ = learned(table(), [0, 1, 0], times=times)
    assert (schema.columns[0].low, schema.columns[0].is_date) == (expected, False)


# Errors


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"q": ["a", 1, 2]}),
        pd.DataFrame({"q": [1.5, None, "a"]}),
        pd.DataFrame({"q": pd.Series([True, 2, None], dtype=object)}),
        pl.DataFrame({"q": pl.Series(["a", 1, None], dtype=pl.Object)}),
    ],
)
def test_numbers_mixed_with_strings_raise_and_name_the_column(X, times):
    with pytest.raises(
        ValueError, match=r"^column 'q' mixes numbers with strings or booleans; convert it to one type$"
    ):
        learned(X, [0, 1, 0], times=times)


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1, 1j], [2, 2], [3, 3]], object),
        pd.DataFrame({0: [1, 2, 3], 1: [1j, 2, 3]}),
        pd.DataFrame({0: [1, 2, 3], 1: pd.Series([1, 2, 3j], dtype=object)}),
    ],
)
def test_complex_numbers_raise_and_name_the_column(X, times):
    with pytest.raises(ValueError, match=r"column '(x1|1)': Complex data not supported"):
        learned(X, [0, 1, 0], times=times)


@pytest.mark.parametrize(
    ("value", "kind"), [({"a": 1}, "dict"), ([1], "list"), ((1, 2), "tuple"), (b"x", "bytes"), ({1}, "set")]
)
def test_a_nested_object_raises_with_column_and_type(value, kind, times):
    column = pd.Series([value, value, None], dtype=object)
    with pytest.raises(TypeError, match=rf"^column 'q': argument must be a string or a number, not '{kind}'$"):
        learned(pd.DataFrame({"q": column}), [0, 1, 0], times=times)


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame, lambda d: duckdb.from_arrow(pa.table(d))])
@pytest.mark.parametrize("value", [{"a": 1}, [1], b"x"])
def test_a_nested_column_raises_and_is_named(make, value, times):
    with pytest.raises(TypeError, match="column 'q': argument must be a string or a number"):
        learned(make({"q": [value] * 3}), [0, 1, 0], times=times)


@pytest.mark.parametrize("X", [sparse.csr_matrix(np.eye(3)), sparse.csr_array(np.eye(3)), sparse.coo_array(np.eye(3))])
def test_a_sparse_table_raises_with_a_suggestion(X, times):
    with pytest.raises(TypeError, match=r"Sparse data was passed.*toarray"):
        learned(X, [0, 1, 0], times=times)


def test_a_sparse_column_raises_and_is_named(times):
    with pytest.raises(TypeError, match="column 'q': Sparse data"):
        learned(pd.DataFrame({"p": [1, 2, 3], "q": pd.arrays.SparseArray([0, 0, 1])}), [0, 1, 0], times=times)


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame([[1, 2, 3]] * 3, columns=["a", "b", "a"]),
        pa.table([pa.array([1, 2, 3])] * 3, names=["a", "b", "a"]),
        pd.DataFrame([[1, 2, 3]] * 3, columns=[7, 8, 7]),
    ],
)
def test_two_columns_with_the_same_name_raise(X, times):
    with pytest.raises(ValueError, match=r"^the table has two columns named ('a'|7); rename one$"):
        learned(X, [0, 1, 0], times=times)


@pytest.mark.parametrize(
    "X", [np.arange(3), [1, 2, 3], pd.Series([1, 2, 3]), pl.Series([1, 2, 3]), pa.chunked_array([[1, 2, 3]])]
)
def test_one_column_is_not_a_table(X):
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
        read_table(X)


@pytest.mark.parametrize("X", [None, 3, "abc", {"a": [1, 2]}])
def test_an_object_that_is_not_a_table_raises(X):
    with pytest.raises((TypeError, ValueError), match=r"Expected 2D array|must be a data frame"):
        read_table(X)


def test_a_lazy_frame_raises_with_a_suggestion():
    with pytest.raises((TypeError, ValueError), match="collect"):
        read_table(pl.LazyFrame({"a": [1, 2]}))


def test_rows_of_different_lengths_raise():
    with pytest.raises(ValueError, match=r"row|length"):
        read_table([[1, 2], [1], [2, 3]])


def test_an_array_of_three_dimensions_raises():
    with pytest.raises(ValueError, match="Found array with dim 3"):
        read_table(np.zeros((2, 2, 2)))


@pytest.mark.parametrize("labels", [[0, 1], [1, 0], [("a", 1), ("a", 2)]])
def test_column_labels_that_are_not_strings_are_not_used_as_names(labels, times):
    X = pd.DataFrame([[1, "p"], [2, "q"]])
    X.columns = pd.Index(labels, tupleize_cols=False)
    schema, levels, _ = learned(X, [0, 1], times=times)
    assert (schema.names, schema.named) == (("x0", "x1"), False)
    assert levels == [(1, 2), ("p", "q")]


def test_integers_too_large_for_a_float_raise_and_name_the_column(times):
    with pytest.raises(ValueError, match="column 'x0'"):
        learned(np.array([[10**400], [1]], object), [0, 1], times=times)


def test_polars_integers_of_128_bits_are_integers(times):
    X = pl.DataFrame({"wide": pl.Series([1, 2, -3], dtype=pl.Int128)})
    assert learned(X, [0, 1, 0], times=times)[1] == [(-3, 1, 2)]


def test_masked_values_are_missing_whatever_their_data(times):
    X = np.ma.array([[1, 5], [2, 6], [3, 7]], mask=[[0, 1], [0, 0], [1, 0]], fill_value=77)
    _, levels, codes = learned(np.ma.concatenate([X] * 30) if times > 1 else X, [0, 1, 0] * (30 if times > 1 else 1))
    assert levels == [(1, 2), (6, 7)]
    assert [codes[0][2], codes[1][0]] == [MISSING, MISSING]


def test_masked_classes_are_missing():
    target = read_target(np.ma.masked_equal([0, 1, 2, 0], 0))
    assert target.labels.tolist() == [1, 2]
    assert target.codes.tolist() == [-1, 0, 1, -1]


def test_booleans_next_to_numbers_in_a_list_stay_booleans():
    _, levels, _ = learned([[True, 1.5], [False, 2.5]], [0, 1])
    assert levels[0] == (False, True)


@pytest.mark.parametrize("X", [{"a": [1, 2]}, "text", (x for x in "ab"), [{"a": 1}, {"a": 2}], np.zeros(3, "i4,f8")])
def test_an_object_that_is_not_a_table_suggests_a_data_frame(X):
    with pytest.raises(TypeError, match="data frame"):
        read_table(X)


def test_pandas_columns_are_read_by_position():
    frame = pd.DataFrame([[1, "a", 0.1], [2, "b", 0.2], [3, "c", 0.3]])
    frame.columns = [len, "b", 3]
    assert [column.levels() for column in read_table(frame).columns] == [[1, 2, 3], ["a", "b", "c"], [0.1, 0.2, 0.3]]
    frame.columns = [np.nan, np.nan, 3]
    with pytest.raises(ValueError, match="the table has two columns named nan; rename one"):
        read_table(frame)


def test_text_of_python_strings_need_not_be_utf_8():
    frame = pd.DataFrame({"a": pd.Series(["\ud800", "b"], dtype="string[python]"), "n": [1, 2]})
    assert read_table(frame).columns[0].levels() == ["b", "\ud800"]

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanbark
from tanbark import Category, Counts, Number, Schema
from tanbark.counts import accumulator as module


def burt(schema, codes, y, weights=None):
    """Return the table by definition: each row adds its weight to every pair of its values."""
    weights = np.ones(len(y), np.int64) if weights is None else weights
    total = int(schema.offset[-1])
    table = np.zeros((len(schema.classes), total, total), weights.dtype)
    for i in range(len(y)):
        held = [schema.offset[u] + codes[u, i] for u in range(len(codes)) if codes[u, i] < schema.arity[u]]
        for a in held:
            for b in held:
                table[y[i], a, b] += weights[i]
    return table


@pytest.mark.parametrize("arity", [(2,), (2, 3, 4), (1, 5, 2, 3), (40, 60, 3), (255, 2)])
@pytest.mark.parametrize("classes", [1, 2, 7])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_counts_are_the_burt_table_by_definition(random_table, arity, classes, missing):
    schema, codes, y = random_table(1, 300, arity, classes, missing)
    counts = Counts.of(schema, codes, y)
    assert np.array_equal(counts.table, burt(schema, codes, y))
    assert np.array_equal(counts.class_counts, np.bincount(y, minlength=classes))
    assert counts.table.dtype == np.int64


def test_more_than_255_levels_are_counted_too(random_table):
    schema, codes, y = random_table(2, 500, (300, 3), 2, 0.1)
    assert codes.dtype == np.uint16
    counts = Counts.of(schema, codes, y)
    assert np.array_equal(counts.table, burt(schema, codes, y))
    assert counts.table.dtype == np.int64


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.usefixtures("threads_for_few_rows")
def test_the_number_of_threads_does_not_change_the_counts(random_table, order, weighted):
    schema, codes, y = random_table(3, 70_001, (4, 3, 12, 30, 2), 3, 0.05)
    weights = np.random.default_rng(0).random(len(y)) if weighted else None
    one, two, three = (Counts.of(schema, codes, y, weights, order, n_jobs=j) for j in (1, 2, 3))
    assert one == two == three


@pytest.mark.usefixtures("threads_for_few_rows")
@pytest.mark.parametrize("order", [1, 2])
def test_large_tables_are_counted_by_threads_over_attributes(random_table, monkeypatch, order):
    schema, codes, y = random_table(4, 2000, (4, 3, 12, 30, 2), 3, 0.05)
    expected = Counts.of(schema, codes, y, order=order, n_jobs=1)
    monkeypatch.setattr(module, "MAX_PRIVATE_BYTES", -1)
    assert Counts.of(schema, codes, y, order=order, n_jobs=2) == expected
    assert Counts.of(schema, codes, y, order=order, n_jobs=3) == expected


def test_blocks_of_rows_are_added_correctly(random_table):
    schema, codes, y = random_table(5, 2 * 32768 + 77, (3, 20, 2), 4, 0.1)
    pair = np.zeros((4, 3, 20), int)
    both = (codes[0] < 3) & (codes[1] < 20)
    np.add.at(pair, (y[both], codes[0][both], codes[1][both]), 1)
    assert np.array_equal(Counts.of(schema, codes, y).pair(0, 1), pair)


def test_weights_are_summed(random_table):
    schema, codes, y = random_table(6, 200, (3, 4, 2), 3, 0.2)
    weights = np.random.default_rng(1).random(200)
    counts = Counts.of(schema, codes, y, weights)
    np.testing.assert_allclose(counts.table, burt(schema, codes, y, weights), rtol=1e-12)
    np.testing.assert_allclose(counts.class_counts, np.bincount(y, weights), rtol=1e-12)


def test_integer_weights_equal_repetitions(random_table):
    schema, codes, y = random_table(7, 200, (3, 4, 2), 3, 0.2)
    times = np.random.default_rng(1).integers(0, 4, 200)
    assert Counts.of(schema, codes, y, times.astype(float)) == Counts.of(
        schema, np.repeat(codes, times, axis=1), np.repeat(y, times)
    )


def test_counts_of_order_one_are_the_diagonal(random_table):
    schema, codes, y = random_table(8, 300, (3, 4, 30), 3, 0.2)
    assert np.array_equal(Counts.of(schema, codes, y, order=1).values, Counts.of(schema, codes, y).values)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(1, 3), st.integers(0, 60), st.integers(0, 99))
def test_counts_are_a_vector_space(arity, classes, rows, seed):
    rng = np.random.default_rng(seed)
    schema = Schema([Category(f"a{u}", tuple(range(r))) for u, r in enumerate(arity)], tuple(range(classes)))
    codes = np.array([rng.integers(0, r + 1, rows) for r in arity], np.uint8).reshape(len(arity), rows)
    codes[codes == np.array(arity)[:, None]] = 255
    y = rng.integers(0, classes, rows)
    cut = int(rng.integers(0, rows + 1))
    whole = Counts.of(schema, codes, y)
    first, rest = Counts.of(schema, codes[:, :cut], y[:cut]), Counts.of(schema, codes[:, cut:], y[cut:])
    shuffled = rng.permutation(rows)
    assert first + rest == whole == rest + first
    assert whole - rest == first
    assert whole - whole == Counts.zero(schema)
    assert whole + whole == whole * 2 == 2 * whole
    assert Counts.of(schema, codes[:, shuffled], y[shuffled]) == whole


def test_subtracting_more_rows_than_were_counted_raises(random_table):
    schema, codes, y = random_table(9, 20, (2, 2), 2)
    whole = Counts.of(schema, codes, y)
    with pytest.raises(ValueError, match="more rows were subtracted"):
        whole - whole * 2


@pytest.mark.parametrize("factor", [-1, np.nan, np.inf, 1e101, 10**400])
def test_multiplying_by_an_invalid_factor_raises(random_table, factor):
    schema, codes, y = random_table(9, 20, (2, 2), 2)
    for weights in (None, np.full(20, 0.5)):
        with pytest.raises(ValueError, match=r"by a number from 0 to 1e\+100"):
            Counts.of(schema, codes, y, weights) * factor


def test_counts_of_different_schemas_are_aligned_by_label():
    a = Schema([Category("x", ("p", "r")), Number("z", (0.5,))], classes=("no", "yes"))
    b = Schema([Category("x", ("q", "r")), Number("z", (0.5,))], classes=("maybe", "yes"))
    rows_a = np.array([["p", 0.0], ["r", 1.0], [None, 1.0]], object)
    rows_b = np.array([["q", 0.0], ["r", 1.0]], object)
    together = Counts.of(a, a.encode(rows_a), np.array([0, 1, 1])) + Counts.of(b, b.encode(rows_b), np.array([0, 1]))
    schema = together.schema
    assert schema.classes == ("maybe", "no", "yes")
    assert schema.columns[0].levels == ("p", "q", "r")
    codes = schema.encode(np.concatenate([rows_a, rows_b]))
    assert together == Counts.of(schema, codes, schema.encode_target(["no", "yes", "yes", "maybe", "yes"]))


def test_rare_and_missing_levels_are_aligned_with_each_other():
    a = Schema([Category("x", ("p", "r"), other=True, missing=True), Category("e", ())], classes=(0,))
    b = Schema([Category("x", ("q",), other=True, missing=True), Category("e", ("z",))], classes=(0,))
    rows_a = np.array([["p", None], ["zzz", None], [None, None], ["r", None]], object)
    rows_b = np.array([["q", "z"], ["yyy", None], [None, "z"]], object)
    together = Counts.of(a, a.encode(rows_a), np.zeros(4, int)) + Counts.of(b, b.encode(rows_b), np.zeros(3, int))
    assert together.schema.columns[0].labels == ("p", "q", "r", "(other)", "(missing)")
    assert together.value(0).tolist() == [[1, 1, 1, 2, 2]]
    assert together.value(1).tolist() == [[2]]
    assert together.pair(0, 1)[0].tolist() == [[0], [1], [0], [0], [1]]


def test_a_schema_without_all_levels_is_refused(random_table):
    schema, codes, y = random_table(9, 20, (3, 2), 2)
    smaller = Schema([Category("a0", (0, 1)), Category("a1", (0, 1))], (0, 1))
    with pytest.raises(ValueError, match="the counts contain 2, which the schema does not have"):
        Counts.of(schema, codes, y).under(smaller)


def test_weighted_counts_can_be_subtracted_but_no_more_than_were_added(random_table):
    schema, codes, y = random_table(9, 50, (2, 3), 2)
    weights = np.random.default_rng(0).random(50)
    whole, part = Counts.of(schema, codes, y, weights), Counts.of(schema, codes[:, :20].copy(), y[:20], weights[:20])
    rest = Counts.of(schema, codes[:, 20:].copy(), y[20:], weights[20:])
    np.testing.assert_allclose((whole - part).table, rest.table, atol=1e-12)
    assert ((whole - whole).table == 0).all()
    with pytest.raises(ValueError, match="more rows were subtracted"):
        part - whole


def test_differences_due_to_rounding_are_zero():
    """In floating point, 0.3 + 0.2 + 0.1 is 0.6, but 0.1 + 0.2 + 0.3 is slightly more."""
    schema = Schema([Category("a", (0, 1))], classes=(0, 1))
    codes, y = np.zeros((1, 3), np.uint8), np.zeros(3, int)
    less, more = (Counts.of(schema, codes, y, np.array(weights)) for weights in ([0.3, 0.2, 0.1], [0.1, 0.2, 0.3]))
    assert less.class_counts[0] < more.class_counts[0]
    assert ((less - more).table == 0).all()
    assert ((less - more).class_counts == 0).all()
    with pytest.raises(ValueError, match="more rows were subtracted"):
        less - more * (1 + 1e-8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _, y: {"y": np.where(np.arange(len(y)) == 3, -1, y)}, "leave out rows without a class"),
        (lambda _, y: {"y": y + 5}, "indices of the 2 classes"),
        (lambda _, y: {"y": y[:-1]}, "an integer class index for each of the 20 rows"),
        (lambda _, y: {"y": y.astype(float)}, "an integer class index for each of the 20 rows"),
        (lambda codes, _: {"codes": codes[:1]}, "codes must be an array returned by schema.encode"),
        (lambda codes, _: {"codes": codes.astype(np.int64)}, "codes must be an array returned by schema.encode"),
        (lambda *_: {"weights": -np.ones(20)}, "weights must be non-negative numbers"),
        (lambda *_: {"weights": np.ones(3)}, "weights must be non-negative numbers"),
        (lambda *_: {"order": 3}, "order must be 1"),
    ],
)
def test_invalid_arguments_raise(random_table, change, message):
    schema, codes, y = random_table(9, 20, (2, 2), 2)
    with pytest.raises(ValueError, match=message):
        Counts.of(**({"schema": schema, "codes": codes, "y": y} | change(codes, y)))


def test_adding_counts_of_other_columns_or_cut_points_raises():
    def zero(*columns):
        return Counts.zero(Schema(columns, (0, 1)))

    with pytest.raises(ValueError, match="different columns"):
        zero(Category("x", (0, 1))) + zero(Category("y", (0, 1)))
    with pytest.raises(ValueError, match="column 'x' has different types or cut points"):
        zero(Number("x", (1.0,))) + zero(Number("x", (2.0,)))


def test_tables_of_excessive_size_are_refused_before_counting():
    schema = Schema([Category(f"a{u}", tuple(range(60_000))) for u in range(2)], tuple(range(9)))
    with pytest.raises(ValueError, match=r"needs [\d,]+ GiB; lower max_levels, drop columns such as 'a0'"):
        Counts.zero(schema)


def test_has_missing_marks_the_columns_with_missing_values(random_table):
    schema, codes, y = random_table(10, 50, (2, 3, 2), 2)
    codes[1, 7] = schema.missing_code
    assert Counts.of(schema, codes, y).has_missing().tolist() == [False, True, False]


def test_rounding_of_weights_is_not_taken_for_missing_values(random_table):
    schema, codes, y = random_table(10, 500, (4, 3), 2)
    counts = Counts.of(schema, codes, y, np.random.default_rng(0).random(500))
    assert (counts.value(0).sum(axis=1) != counts.class_counts).any()
    assert not counts.has_missing().any()
    codes[1, 7] = schema.missing_code
    weights = np.where(np.arange(500) == 7, 1e-3, 1e3)
    assert Counts.of(schema, codes, y, weights).has_missing().tolist() == [False, True]


@pytest.mark.parametrize("times", [1.5, 1e9, 1e30])
def test_missing_values_of_a_light_class_are_found_beside_a_heavy_class(random_table, times):
    schema, codes, y = random_table(10, 100, (2, 3), 2)
    codes[0, np.flatnonzero(y == 0)[0]] = schema.missing_code
    counts = Counts.of(schema, codes, y, np.where(y == 0, 1.0, times))
    assert counts.has_missing().tolist() == [True, False]
    with pytest.raises(ValueError, match="more rows were subtracted"):
        counts - Counts.of(schema, codes, y, np.where(y == 0, 2.0, times))


def test_counts_are_read_only(random_table):
    schema, codes, y = random_table(11, 20, (2, 2), 2)
    with pytest.raises(ValueError, match="read-only"):
        Counts.of(schema, codes, y).table[0, 0, 0] = 5


def test_arrays_passed_to_counts_stay_writable():
    schema = Schema([Category("x", (0, 1))], (0,))
    table = np.zeros((1, 2), np.int64)
    Counts(schema, np.zeros(1, np.int64), table)
    table[0, 0] = 1


def test_counts_that_are_too_large_raise(random_table):
    schema, codes, y = random_table(11, 20, (2, 2), 2)
    with pytest.raises(ValueError, match="the counts exceed"):
        Counts.of(schema, codes, y) * 1e99 * 10
    with pytest.raises(ValueError, match="the counts exceed"):
        Counts.of(schema, codes, y, np.full(20, np.inf))


def test_pickled_counts_are_read_only(random_table):
    schema, codes, y = random_table(11, 20, (2, 2), 2)
    again = pickle.loads(pickle.dumps(Counts.of(schema, codes, y)))
    assert again == Counts.of(schema, codes, y)
    assert not again.table.flags.writeable


def test_rows_may_be_added_to_counts_of_any_type(random_table):
    schema, codes, y = random_table(0, 100, (2, 3), 2)
    counts = Counts.of(schema, codes, y)
    for kind in (np.uint8, np.float32, np.float64):
        narrow = Counts(schema, counts.class_counts.astype(kind), counts.table.astype(kind))
        assert narrow.plus(codes, y).plus(codes, y) == counts * 3


def test_zero_rows_can_be_added_to_counts_without_classes():
    schema = Schema([Category("a", (0, 1))], classes=())
    assert Counts.zero(schema).plus(np.empty((1, 0), np.uint8), np.empty(0, np.int64)) == Counts.zero(schema)


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1.0, 1e12])
def test_missing_values_are_found_for_weights_of_any_scale(random_table, unit):
    schema, codes, y = random_table(3, 200, (3, 2), 2, 0.1)
    counts = Counts.of(schema, codes, y, np.full(200, unit))
    assert counts.has_missing().all()
    assert not Counts.of(schema, codes % 2, y, np.full(200, unit)).has_missing().any()
    with pytest.raises(ValueError, match="more rows were subtracted"):
        counts - counts * 2


def test_a_difference_of_weighted_counts_can_be_saved(random_table, tmp_path):
    """Rounding errors of heavy rows leave no pair above its values and no value above its class."""
    schema, codes, y = random_table(3, 200, (3, 2, 4), 2, 0.1)
    rng = np.random.default_rng(0)
    heavy, light = (Counts.of(schema, codes, y, rng.random(200) * size) for size in (1e9, 1.0))
    left = (heavy + light) - heavy
    single = np.diagonal(left.table, axis1=1, axis2=2)
    assert (left.table <= single[:, :, None]).all()
    assert (left.table <= single[:, None, :]).all()
    assert (np.add.reduceat(single, schema.offset[:-1], axis=1) <= left.class_counts[:, None]).all()
    np.testing.assert_allclose(left.table, light.table, atol=1e-5)
    tanbark.save(tanbark.TAN().fit_counts(left), tmp_path / "m")
    assert tanbark.load(tmp_path / "m").counts_ == left


def test_the_representation_of_counts_is_short():
    schema = Schema([Category("a", (0, 1)), Category("b", tuple(range(300)))], ("no", "yes"))
    rows = np.zeros((2, 1000), np.uint16), np.arange(1000) % 2
    assert repr(Counts.of(schema, *rows)) == "Counts(1,000 rows, 2 columns, 2 classes, pairs)"
    single = Counts.of(schema, *rows, order=1)
    assert repr(single) == "Counts(1,000 rows, 2 columns, 2 classes, single values)"
    assert repr(single * 0.5) == "Counts(rows of total weight 500, 2 columns, 2 classes, single values)"
    one = Schema([Category("a", (0, 1))], ("no",))
    assert (
        repr(Counts.of(one, np.zeros((1, 1), np.uint8), np.zeros(1, int))) == "Counts(1 row, 1 column, 1 class, pairs)"
    )

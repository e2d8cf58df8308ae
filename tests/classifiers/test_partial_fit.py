"""Learning as rows arrive: levels and classes that come later, chunks of any size, none and bad ones."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

import tanbark
from tanbark import AODE, TAN, AveragedTAN, Category, Encoder, ForestAN, NaiveBayes, Number, Schema

CLASSIFIERS = [NaiveBayes, TAN, ForestAN, AODE, AveragedTAN]


def table(rows, seed, numeric=True):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "colour": rng.choice(["blue", "green", "red", "teal"], rows),
            "size": rng.integers(0, 4, rows),
            "flag": rng.random(rows) < 0.5,
        }
    )
    if numeric:
        X["age"] = rng.normal(40, 10, rows)
    return X, pd.Series(rng.choice(["no", "maybe", "yes"], rows), name="answer")


def counted(X, y, schema):
    """Count pairs row by row, in plain Python."""
    where = [{label: start + i for i, label in enumerate(c.levels)} for c, start in zip(schema.columns, schema.offset)]
    classes, total = len(schema.classes), int(schema.offset[-1])
    pairs = np.zeros((classes, total, total), np.int64)
    for row, label in zip(X.itertuples(index=False), y):
        at = [places[v] for places, v in zip(where, row) if v in places]
        pairs[schema.classes.index(label)][np.ix_(at, at)] += 1
    return pairs


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 59), min_size=1, max_size=6, unique=True))
def test_new_levels_and_classes_extend_the_schema_and_no_count_is_lost(seed, cuts):
    X, y = table(60, seed, numeric=False)
    order = np.lexsort((X["colour"], y))
    X, y = X.iloc[order].reset_index(drop=True), y.iloc[order].reset_index(drop=True)
    model = TAN()
    for part in np.split(np.arange(60), sorted(cuts)):
        model.partial_fit(X.iloc[part], y.iloc[part])
    assert model.schema_ == Encoder(categorical="all").fit(X, y).schema_
    assert np.array_equal(model.counts_.table, counted(X, y, model.schema_))
    whole = TAN(encoder=Encoder(categorical="all")).fit(X, y)
    assert np.array_equal(model.predict_proba(X), whole.predict_proba(X))
    assert model.tree_edges_ == whole.tree_edges_


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_classifier_learns_what_comes_later(classifier):
    X, y = table(200, 1)
    early = (y != "yes") & (X["colour"] != "teal")
    model = classifier().partial_fit(X[early], y[early])
    cuts = model.schema_.columns[3].cuts
    assert model.classes_.tolist() == ["maybe", "no"]
    model.partial_fit(X[~early], y[~early])
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    assert model.schema_.columns[0].levels == ("blue", "green", "red", "teal")
    assert model.schema_.columns[3].cuts == cuts
    assert model.schema_.columns[3].high == X["age"].max()
    again = classifier(encoder=model.schema_).fit(X, y)
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))
    assert model.counts_ == again.counts_


def test_array_frame_and_arrow_chunks_are_alike():
    X, y = table(100, 2)
    parts = [X.iloc[:50], X.iloc[50:]]
    by_frame, by_arrow = (TAN() for _ in range(2))
    for part in parts:
        by_frame.partial_fit(part, y[part.index])
        by_arrow.partial_fit(pa.Table.from_pandas(part, preserve_index=False), y[part.index].tolist())
    assert by_frame.schema_.columns == by_arrow.schema_.columns
    assert np.array_equal(by_frame.counts_.table, by_arrow.counts_.table)
    by_array = TAN(encoder=by_frame.schema_)
    for part in parts:
        by_array.partial_fit(part.to_numpy(object), y[part.index].to_numpy())
    assert np.array_equal(by_frame.counts_.table, by_array.counts_.table)


def test_a_chunk_of_no_rows_changes_nothing():
    X, y = table(50, 3)
    assert not hasattr(TAN().partial_fit(X[:0], y[:0]), "counts_")
    model = TAN().partial_fit(X, y)
    network, counts = model.network_, model.counts_
    for nothing in ((X[:0], y[:0]), ([], []), (pd.DataFrame(), []), (X.to_numpy(object)[:0], [])):
        model.partial_fit(*nothing)
    model.partial_fit(X, y, sample_weight=np.zeros(50))
    with pytest.warns(UserWarning, match="50 rows without a class are dropped"):
        model.partial_fit(X, [None] * 50)
    assert model.network_ is network
    assert model.counts_ is counts


def test_a_column_all_missing_at_first_loses_no_count():
    model = NaiveBayes().partial_fit([[None], [None]], ["a", "b"])
    model.partial_fit([["p"], ["p"], ["p"]], ["a", "a", "b"])
    assert model.counts_.values.tolist() == [[2], [1]]
    assert model.counts_.class_counts.tolist() == [3, 2]


def test_measurements_that_looked_like_categories_are_noticed():
    model = NaiveBayes().partial_fit([[1], [2], [3]], [0, 1, 1])
    with pytest.warns(UserWarning, match=r"column 'x0' became a category because of .*, but now has 4 levels"):
        model.partial_fit([[2.5]], [0])
    model = NaiveBayes().partial_fit([[1], [2], [3]], [0, 1, 1])
    with pytest.warns(UserWarning, match="now has 12 levels; if it holds measurements, start with more rows"):
        model.partial_fit(np.arange(12).reshape(-1, 1) + 1, [0, 1] * 6)


def test_a_missing_state_takes_one_of_the_most_levels():
    encoder = Encoder(missing="state", max_levels=4)
    model = NaiveBayes(encoder=encoder).partial_fit([["p"], ["q"], [None]], ["a", "b", "b"])
    with pytest.warns(UserWarning, match="the rarest 2 of the new ones are merged into one"):
        model.partial_fit([["r"], ["s"]], ["a", "a"])
    assert model.schema_.columns[0].labels == ("p", "q", "(other)", "(missing)")
    assert model.counts_.value(0).tolist() == [[1, 0, 2, 0], [0, 1, 0, 1]]


def test_class_labels_keep_their_type_and_their_letters():
    model = NaiveBayes().partial_fit([["p"]], np.array(["ab"])).partial_fit([["p"]], np.array(["abcdef"]))
    assert model.classes_.tolist() == ["ab", "abcdef"]
    numbers = NaiveBayes().partial_fit([["p"]], np.array([1], np.int16)).partial_fit([["p"]], np.array([2**40]))
    assert numbers.classes_.tolist() == [1, 2**40]
    one = Schema([Category("a", ("p",))], classes=(0, 1), class_dtype="<i8")
    other = Schema([Category("a", ("p",))], classes=("x", "y"), class_dtype="<U1")
    assert one.merge(other).class_labels.tolist() == [0, 1, "x", "y"]


def test_the_range_grows_with_the_first_missing_value_too():
    encoder = Encoder(missing="state", n_bins=2)
    model = NaiveBayes(encoder=encoder).partial_fit([[0.5], [1.5], [2.5]], [0, 1, 1])
    model.partial_fit([[np.nan], [1e6]], [0, 1])
    assert (model.schema_.columns[0].low, model.schema_.columns[0].high) == (0.5, 1e6)
    assert model.schema_.columns[0].missing


def test_a_new_fit_forgets_the_names_of_chunks():
    X, y = table(30, 11)
    model = NaiveBayes().fit(X, y)
    model.chunk_ids_ = ("monday",)
    assert model.partial_fit(X, y).chunk_ids_ == ("monday",)
    assert model.fit(X, y).chunk_ids_ == ()


def test_classes_may_be_listed_as_a_set():
    assert NaiveBayes().partial_fit([["a"]], ["p"], classes={"q", "p"}).classes_.tolist() == ["p", "q"]


def test_listed_classes_are_all_there_are_also_after_saving(tmp_path):
    X, y = table(50, 4)
    known = y != "yes"
    model = TAN().partial_fit(X[known], y[known], classes=["maybe", "no"])
    tanbark.save(model, tmp_path / "m")
    for fitted in (model, tanbark.load(tmp_path / "m")):
        with pytest.raises(ValueError, match=r"^unknown class 'yes'; the known classes are 'maybe', 'no'$"):
            fitted.partial_fit(X, y)
        assert fitted.counts_.class_counts.sum() == known.sum()
    model.fit(X[known], y[known])
    assert model.partial_fit(X, y).classes_.tolist() == ["maybe", "no", "yes"]


def test_a_schema_that_was_given_stays_as_it_is():
    schema = Schema([Category("a", ("p", "q")), Number("b", (1.0,))], classes=("no", "yes"))
    model = TAN(encoder=schema).partial_fit(pd.DataFrame({"a": ["p", "r"], "b": [0.5, 2]}), ["no", "yes"])
    assert model.schema_ is schema
    assert model.counts_.value(0).tolist() == [[1, 0], [0, 0]]
    with pytest.raises(ValueError, match=r"^unknown class 'maybe'; the known classes are"):
        model.partial_fit(pd.DataFrame({"a": ["p"], "b": [0.5]}), ["maybe"])


def test_beyond_max_levels_the_rarest_new_labels_share_one():
    settings = Encoder(max_levels=4)
    model = NaiveBayes(encoder=settings).partial_fit(pd.DataFrame({"a": ["p", "q"]}), ["no", "yes"])
    late = pd.DataFrame({"a": ["u", "s", "s", "t", "p"]})
    with pytest.warns(UserWarning, match="column 'a' now has 5 levels: the rarest 2 of the new ones are merged"):
        model.partial_fit(late, ["no"] * 5)
    assert model.schema_.columns[0].labels == ("p", "q", "s", "(other)")
    assert model.counts_.value(0).tolist() == [[2, 0, 2, 2], [0, 1, 0, 0]]
    model.partial_fit(pd.DataFrame({"a": ["w"]}), ["yes"])
    assert model.counts_.value(0).tolist() == [[2, 0, 2, 2], [0, 1, 0, 1]]


def test_a_missing_value_becomes_a_state_when_the_first_one_comes():
    encoder = Encoder(missing="state", n_bins=2)
    first = pd.DataFrame({"a": ["p", "q"], "b": [0.5, 1.5]})
    model = NaiveBayes(encoder=encoder).partial_fit(first, ["no", "yes"])
    model.partial_fit(pd.DataFrame({"a": [None, "p"], "b": [None, 2.5]}), ["no", "no"])
    assert [c.arity for c in model.schema_.columns] == [3, 3]
    assert model.counts_.value(0).tolist() == [[2, 0, 1], [0, 1, 0]]
    assert model.counts_.value(1).tolist() == [[1, 1, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.drop(columns="size"), "Feature names seen at fit time, yet now missing:\n- size"),
        (lambda X: X.assign(more=1), "Feature names unseen at fit time:\n- more"),
        (lambda X: X[["size", "colour", "flag", "age"]], "Feature names must be in the same order"),
        (lambda X: X.assign(age="old"), "^column 'age' holds text, but the schema expects numbers"),
        (lambda X: X.assign(colour=1.5), "^column 'colour' holds numbers, but the schema expects text"),
        (lambda X: X.assign(age=np.inf), "^column 'age'.*infinity"),
    ],
)
def test_a_bad_chunk_is_refused_and_changes_nothing(change, message):
    X, y = table(60, 5)
    model = TAN().partial_fit(X, y)
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(change(X), y)
    assert model.__dict__ == before


def test_a_class_prior_that_no_longer_fits_is_refused_and_changes_nothing():
    X, y = table(60, 6)
    model = TAN(class_prior=[0.5, 0.5]).partial_fit(X[y != "yes"], y[y != "yes"])
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match=r"^class_prior must be 3 probabilities"):
        model.partial_fit(X, y)
    assert model.__dict__ == before


def test_aco_goes_on_from_the_tree_it_had_also_after_saving(tmp_path):
    X, y = table(300, 7)
    model = TAN(restructure="aco")
    for start in range(0, 200, 50):
        model.partial_fit(X.iloc[start : start + 50], y.iloc[start : start + 50])
    tanbark.save(model, tmp_path / "m")
    other = tanbark.load(tmp_path / "m")
    for fitted in (model, other):
        fitted.partial_fit(X.iloc[200:], y.iloc[200:])
    assert model.tree_edges_ == other.tree_edges_
    assert model.restructure_stats_ == other.restructure_stats_
    assert np.array_equal(model.predict_proba(X), other.predict_proba(X))
    assert TAN(restructure="aco").fit(X, y).tree_edges_ == TAN().fit(X, y).tree_edges_


def test_always_says_what_the_batch_tree_took_and_how_it_changed():
    X, y = table(300, 8)
    model = TAN().partial_fit(X.iloc[:40], y.iloc[:40])
    edges = {frozenset(e) for e in model.network_.edges}
    model.partial_fit(X.iloc[40:], y.iloc[40:])
    stats = model.restructure_stats_
    assert (stats.calculated, stats.recalled, stats.first_out_of_order) == (6, 2 * 2 + 3 * 1, 1)
    assert stats.edges_changed == len({frozenset(e) for e in model.network_.edges} - edges)


def test_aco_needs_weights_without_direction():
    X, y = table(60, 9)
    with pytest.raises(ValueError, match=r"^restructure='aco' needs criterion 'cmi' or 'bdeu'; use 'always'$"):
        TAN(criterion="acll", restructure="aco").fit(X, y)
    assert TAN(criterion="bdeu", restructure="aco").partial_fit(X, y).partial_fit(X, y).tree_edges_


def test_a_few_rows_are_counted_as_many_are():
    X, y = table(400, 10)
    schema = Encoder().fit(X, y).schema_
    codes, labels = schema.encode(X), schema.encode_target(y)
    codes[:, ::7] = schema.missing_code
    half = tanbark.Counts.of(schema, np.ascontiguousarray(codes[:, :390]), labels[:390])
    few = half.plus(np.ascontiguousarray(codes[:, 390:]), labels[390:])
    assert few == tanbark.Counts.of(schema, codes, labels)
    single = tanbark.Counts.of(schema, codes, labels, order=1)
    assert single.plus(codes, labels) == single * 2


@pytest.mark.parametrize("as_column", [lambda y: y.reshape(-1, 1), lambda y: pd.DataFrame({"y": y})])
def test_a_column_of_classes_is_taken_in_every_chunk_as_in_the_first(as_column):
    X, y = np.arange(40).reshape(20, 2) % 3, np.arange(20) % 2
    model = TAN()
    for part in (slice(0, 10), slice(10, 20)):
        with pytest.warns(DataConversionWarning):
            model.partial_fit(X[part], as_column(y[part]))
    assert model.counts_.class_counts.tolist() == [10, 10]


def test_classes_without_rows_are_no_empty_chunk():
    X, y = np.arange(40).reshape(20, 2) % 3, np.arange(20) % 2
    model = TAN().partial_fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples: X has 0, y has 20"):
        model.partial_fit(X[:0], y)
    for nothing in (y[:0], [], pa.chunked_array([], pa.int64()), pd.Series(y[:0])):
        assert model.partial_fit(X[:0], nothing).counts_.class_counts.sum() == 20

"""Laws that every classifier of the registry keeps, whatever the table: one that is new keeps them too."""

import itertools
import re
import tempfile
import warnings
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

import tanbark
from laws.generated import (
    CHOICES,
    NOT_DRAWN,
    class_weights,
    encoders,
    law,
    settings_of,
    tables,
    tables_without_ties,
    tried,
)
from tanbark import Counts, Encoder, Number
from tanbark.classifiers import REGISTRY

FEW_VALUES = tanbark.Encoder(max_levels=3, n_bins=3)
CLASSIFIERS = [entry.classifier for entry in REGISTRY.values()]
every = pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: c.__name__)
WITHOUT_TIES = [classifier for classifier in CLASSIFIERS if classifier is not tanbark.BNC2P]
"""BNC2P climbs, and to a climb an edge and the same edge turned round are equally good at first."""
every_without_ties = pytest.mark.parametrize("classifier", WITHOUT_TIES, ids=lambda c: c.__name__)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def fitted(classifier, settings, table, **more):
    return classifier(**settings, **more).fit(table.X, table.y, table.weights)


def offering(method):
    """Run a law for the classifiers that have a method, if only with some settings."""
    ways = {c: [{}, *({name: v} for name, of in CHOICES.get(c.__name__, {}).items() for v in of)] for c in CLASSIFIERS}
    able = [c for c in CLASSIFIERS if any(hasattr(c(**way), method) for way in ways[c])]
    return pytest.mark.parametrize("classifier", able, ids=lambda c: c.__name__)


def asked(X, seed=0):
    """Rows to ask about: those of the table, such with values taken out, and one of which nothing is known."""
    rows = X.iloc[:25]
    holed = rows.astype(object).mask(np.random.default_rng(seed).random(rows.shape) < 0.4)
    nothing = pd.DataFrame({name: [None] for name in X}, dtype=object)
    return pd.concat([rows.astype(object), holed, nothing], ignore_index=True)


def everything(model, X):
    """All that a model says of rows, by the name of the method."""
    methods = ("predict", "predict_log_proba", "predict_joint_log_proba", "score_samples", "explain")
    return {method: getattr(model, method)(X) for method in methods if hasattr(model, method)}


def assert_same(one, other):
    for method in one:
        np.testing.assert_array_equal(one[method], other[method], err_msg=method)


@every
@law
def test_probabilities_are_finite_and_sum_to_one(classifier, data):
    table = data.draw(tables(least_rows=1))
    model = fitted(classifier, data.draw(settings_of(classifier)), table, encoder=data.draw(encoders()))
    X = asked(table.X)
    proba, logs = model.predict_proba(X), model.predict_log_proba(X)
    assert proba.shape == (len(X), len(np.unique(table.y[... if table.weights is None else table.weights > 0])))
    assert ((proba >= 0) & (proba <= 1)).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    assert not np.isnan(logs).any()
    np.testing.assert_allclose(np.exp(logs), proba, rtol=1e-9, atol=1e-15)
    assert np.array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])


@every
@law
def test_no_rows_are_refused_and_change_nothing(classifier, data):
    table = data.draw(tables(least_rows=1, most_rows=40))
    model = fitted(classifier, data.draw(settings_of(classifier)), table)
    before = everything(model, table.X)
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        model.fit(table.X.iloc[:0], table.y[:0])
    if hasattr(model, "partial_fit"):
        model.partial_fit(table.X.iloc[:0], table.y[:0])
    assert_same(before, everything(model, table.X))


@every
@law
def test_the_order_of_rows_changes_nothing(classifier, data):
    table = data.draw(tables(least_rows=1, weights=("none", "whole")))
    settings = data.draw(settings_of(classifier)) | {"encoder": data.draw(encoders())}
    order = np.random.default_rng(data.draw(st.integers(0, 1000))).permutation(len(table.y))
    one, other = fitted(classifier, settings, table), fitted(classifier, settings, table.take(order))
    assert one.counts_ == other.counts_
    assert_same(everything(one, asked(table.X)), everything(other, asked(table.X)))


@every
@law
def test_a_whole_weight_is_a_repetition(classifier, data):
    table = data.draw(tables(least_rows=1, most_rows=200, weights=("whole",)))
    settings = data.draw(settings_of(classifier)) | {"encoder": data.draw(encoders())}
    times = table.weights.astype(int)
    repeated = classifier(**settings).fit(table.X.loc[table.X.index.repeat(times)], np.repeat(table.y, times))
    weighed = fitted(classifier, settings, table)
    assert weighed.schema_ == repeated.schema_
    assert weighed.counts_ == repeated.counts_
    assert_same(everything(weighed, asked(table.X)), everything(repeated, asked(table.X)))


@every
@law
def test_weights_times_a_whole_number_are_rows_that_often(classifier, data):
    table = data.draw(tables(least_rows=1, most_rows=100, weights=("whole", "real")))
    settings, times = data.draw(settings_of(classifier)), data.draw(st.sampled_from([2, 3, 7]))
    scaled = classifier(**settings).fit(table.X, table.y, table.weights * times)
    repeated = fitted(classifier, settings, table.take(np.tile(np.arange(len(table.y)), times)))
    assert scaled.schema_ == repeated.schema_
    np.testing.assert_allclose(scaled.counts_.table, repeated.counts_.table, rtol=1e-12)
    if table.weights.tolist() == table.weights.round().tolist():
        assert_same(everything(scaled, asked(table.X)), everything(repeated, asked(table.X)))


@every
@law
def test_a_whole_class_weight_is_a_repetition_of_the_rows_of_the_class(classifier, data):
    table = data.draw(tables(least_rows=1, most_rows=200, weights=("none", "whole")))
    settings = data.draw(settings_of(classifier)) | {"encoder": data.draw(encoders())}
    class_weight = data.draw(class_weights(table))
    times = np.array([class_weight.get(label, 1) for label in table.y.tolist()])
    repeated = fitted(classifier, settings, table.take(np.repeat(np.arange(len(table.y)), times)))
    weighed = classifier(**settings).fit(table.X, table.y, times * (1 if table.weights is None else table.weights))
    by_class = fitted(classifier, settings, table, class_weight=class_weight)
    for other in repeated, weighed:
        assert by_class.schema_ == other.schema_
        assert by_class.counts_ == other.counts_
        assert_same(everything(by_class, asked(table.X)), everything(other, asked(table.X)))


@every
@law
def test_balanced_class_weights_give_each_class_the_same_share_of_the_weight(classifier, data):
    table = data.draw(tables(least_rows=1, most_rows=200, weights=("none", "whole", "real")))
    settings = data.draw(settings_of(classifier)) | {"encoder": data.draw(encoders())}
    weights = np.ones(len(table.y)) if table.weights is None else table.weights
    labels, place = np.unique(table.y, return_inverse=True)
    with np.errstate(divide="ignore"):
        factors = weights.sum() / (len(np.unique(table.y[weights > 0])) * np.bincount(place, weights))
    balanced = fitted(classifier, settings, table, class_weight="balanced")
    np.testing.assert_allclose(balanced.counts_.class_counts, weights.sum() / len(balanced.classes_), rtol=1e-12)
    given = {label: factor for label, factor in zip(labels.tolist(), factors, strict=True) if np.isfinite(factor)}
    by_dict = fitted(classifier, settings, table, class_weight=given)
    assert balanced.schema_ == by_dict.schema_
    np.testing.assert_allclose(
        balanced.predict_proba(asked(table.X)), by_dict.predict_proba(asked(table.X)), **rounding(classifier)
    )


@offering("partial_fit")
@law
def test_class_weights_multiply_parts_and_counts_as_they_multiply_all_rows(classifier, data):
    table = data.draw(tables(least_rows=1, most_rows=200, weights=("none", "whole")))
    settings = data.draw(settings_of(classifier))
    assume(hasattr(classifier(**settings), "partial_fit"))
    settings["class_weight"] = data.draw(class_weights(table))
    whole = fitted(classifier, settings, table, encoder=data.draw(encoders()))
    settings["encoder"] = whole.schema_
    unweighted = fitted(classifier, settings | {"class_weight": None}, table).counts_
    cut = data.draw(st.integers(0, len(table.y)))
    first, last = (
        fitted(classifier, settings | {"class_weight": None}, part).counts_ if usable(part) else unweighted * 0
        for part in (table.take(slice(cut)), table.take(slice(cut, None)))
    )
    parts = classifier(**settings)
    for part in table.take(slice(cut)), table.take(slice(cut, None)):
        if usable(part):
            parts.partial_fit(part.X, part.y, sample_weight=part.weights)
    models = [parts, classifier(**settings).fit_counts(unweighted)]
    if first.class_counts.any():
        models.append(classifier(**settings).fit_counts(first).add_counts(last))
    for other in models:
        assert other.counts_ == whole.counts_
        assert_same(everything(whole, asked(table.X)), everything(other, asked(table.X)))


def usable(table):
    return len(table.y) > 0 and (table.weights is None or table.weights.any())


@every
def test_an_unknown_class_or_an_invalid_class_weight_is_refused_and_changes_nothing(classifier):
    X, y = tanbark.datasets.lenses()
    model = classifier().fit(X, y)
    before = everything(model, X)
    for class_weight, message in (
        ({"hard": 2, "harder": 3}, "class_weight names 'harder', which is not a class; the classes are 'hard', 'none'"),
        ({"hard": 0}, "class_weight of 'hard' must be a positive number"),
        ({"hard": np.nan}, "class_weight of 'hard' must be a positive number"),
        ({"hard": "2"}, "class_weight of 'hard' must be a positive number"),
        ("balance", "class_weight must be 'balanced', None or a dict"),
        ([1, 2, 3], "class_weight must be 'balanced', None or a dict"),
    ):
        with pytest.raises(ValueError, match=rf"^{re.escape(message)}[^\n]*$"):
            model.set_params(class_weight=class_weight).fit(X, y)
        assert_same(before, everything(model, X))


@offering("partial_fit")
def test_balanced_class_weights_are_refused_for_further_rows(classifier):
    X, y = tanbark.datasets.lenses()
    settings = next(
        way
        for way in [{}, *({name: v} for name, of in CHOICES.get(classifier.__name__, {}).items() for v in of)]
        if hasattr(classifier(**way), "partial_fit")
    )
    X = pd.DataFrame(X, columns=["a0", "a1", "a2", "a3"])
    model = classifier(class_weight="balanced", **settings)
    counts = model.fit(X, y).counts_
    before = everything(model, X)
    for learn in (lambda: model.partial_fit(X, y), lambda: model.add_counts(counts)):
        with pytest.raises(ValueError, match=r"^class_weight='balanced' depends on all rows[^\n]*$"):
            learn()
        assert_same(before, everything(model, X))


@offering("partial_fit")
@law
def test_partial_fit_over_any_split_is_fit(classifier, data):
    table = data.draw(tables(least_rows=1, weights=("none", "whole")))
    settings = data.draw(settings_of(classifier))
    assume(hasattr(classifier(**settings), "partial_fit"))
    whole = fitted(classifier, settings, table, encoder=data.draw(encoders()))
    parts = classifier(**settings, encoder=whole.schema_)
    cuts = data.draw(st.lists(st.integers(0, len(table.y)), max_size=4))
    for start, stop in itertools.pairwise([0, *sorted(cuts), len(table.y)]):
        part = table.take(slice(start, stop))
        if part.weights is None or part.weights.any():
            parts.partial_fit(part.X, part.y, sample_weight=part.weights)
    assert parts.counts_ == whole.counts_
    assert_same(everything(whole, asked(table.X)), everything(parts, asked(table.X)))


@every
@law
def test_saving_and_loading_changes_no_bit(classifier, data):
    table = data.draw(tables(least_rows=1))
    model = fitted(classifier, data.draw(settings_of(classifier)), table, encoder=data.draw(encoders()))
    with tempfile.TemporaryDirectory() as folder:
        tanbark.save(model, f"{folder}/m")
        again = tanbark.load(f"{folder}/m")
    assert again.counts_ == model.counts_
    assert again.counts_.table.dtype == model.counts_.table.dtype
    assert_same(everything(model, asked(table.X)), everything(again, asked(table.X)))


@offering("explain")
@law
def test_weights_of_evidence_add_up_to_the_answer(classifier, data):
    table = data.draw(tables(least_rows=1))
    model = fitted(classifier, data.draw(settings_of(classifier)), table, encoder=Encoder(missing="marginalize"))
    assume(hasattr(model, "explain"))
    X = asked(table.X)
    evidence = model.explain(X)
    assert evidence.shape == (len(X), 1 + X.shape[1], len(model.classes_))
    np.testing.assert_allclose(softmax(evidence.sum(axis=1), axis=1), model.predict_proba(X), rtol=1e-9, atol=1e-12)
    # What is not known says nothing.
    unknown = X.isna().to_numpy()
    assert not evidence[:, 1:][unknown].any()


@offering("predict_joint_log_proba")
@law
def test_a_missing_value_is_the_sum_over_its_levels(classifier, data):
    table = data.draw(tables(least_rows=1, most_rows=120))
    model = fitted(classifier, data.draw(settings_of(classifier)), table)
    assume(hasattr(model, "predict_joint_log_proba"))
    u = data.draw(st.integers(0, table.X.shape[1] - 1))
    column = model.schema_.columns[u]
    # Other holes are summed out in both, unless they are so many that trees are drawn instead.
    X = asked(table.X.iloc[:4])
    X[column.name] = None
    X = X[np.where(X.isna(), model.schema_.arity, 1).prod(axis=1) <= 1024]
    each = [model.predict_joint_log_proba(X.assign(**{column.name: value})) for value in values_of(column, len(X))]
    np.testing.assert_allclose(
        model.predict_joint_log_proba(X), logsumexp_or_nothing(np.stack(each)), rtol=1e-9, atol=1e-9
    )


@offering("predict_joint_log_proba")
@law
def test_the_joint_sums_to_one_over_all_rows(classifier, data):
    table = data.draw(tables(least_rows=1, most_columns=4))
    model = fitted(classifier, data.draw(settings_of(classifier)), table, encoder=FEW_VALUES)
    assume(hasattr(model, "predict_joint_log_proba"))
    values = [[value[0] for value in values_of(column, 1)] for column in model.schema_.columns]
    X = pd.DataFrame([*itertools.product(*values)], columns=list(table.X), dtype=object)
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(X)).sum(), 1.0, rtol=1e-9)


def values_of(column, rows):
    """A value for every code of a column, each as a column of so many rows."""
    if isinstance(column, Number):
        edges = [-np.inf, *column.cuts]
        above = [np.nextafter(edge, np.inf) if np.isfinite(edge) else -1.7e308 for edge in edges]
        return [np.full(rows, value, object) for value in above]
    rng = np.random.default_rng(0)
    return [np.repeat(column.value_of(np.array([code]), rng), rows) for code in range(column.arity)]


def logsumexp_or_nothing(logs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return logsumexp(logs, axis=0)


@every
@law
def test_names_of_levels_and_classes_that_keep_their_order_change_no_bit(classifier, data):
    table = data.draw(tables(least_rows=1))
    settings = data.draw(settings_of(classifier))
    one = fitted(classifier, settings, table)
    text = [name for name in table.X if table.X[name].dtype == object and is_text(table.X[name])]
    renamed = table.X.assign(**{name: prefixed(table.X[name]) for name in text})
    y = np.array([f"x{place:03}" for place in np.searchsorted(np.unique(table.y), table.y)], object)
    other = classifier(**settings).fit(renamed, y, table.weights)
    X = asked(table.X)
    Z = X.assign(**{name: prefixed(X[name]) for name in text})
    assert np.array_equal(one.counts_.table, other.counts_.table)
    assert np.array_equal(one.predict_log_proba(X), other.predict_log_proba(Z))


def is_text(column):
    return column.dropna().map(lambda value: isinstance(value, str)).all() and column.notna().any()


def prefixed(column):
    return column.map(lambda value: value if value is None or value != value else f"zz {value}").astype(object)


WITHOUT_FOLDS = [classifier for classifier in WITHOUT_TIES if classifier is not tanbark.EnsembleBN]
"""The folds of EnsembleBN, which it always has, depend on the codes of rows."""


@pytest.mark.parametrize("classifier", WITHOUT_FOLDS, ids=lambda c: c.__name__)
@law
def test_names_of_levels_and_classes_in_another_order_are_only_names(classifier, data):
    table, settings = where_networks_that_tie_agree(
        data.draw(tables_without_ties()), data.draw(settings_of(classifier))
    )
    settings |= without_draws(classifier)
    one = fitted(classifier, settings, table)
    turned = table.X.apply(lambda column: column.map(mirrored, na_action="ignore"))
    classes = {label: f"{len(one.classes_) - i}" for i, label in enumerate(one.classes_)}
    other = classifier(**settings).fit(turned, np.array([classes[k] for k in table.y]), table.weights)
    X = asked(table.X)
    X = X[all_members_decided(one, X)]
    if classifier is tanbark.BoostedTables:
        # A missing value answers no to "is it a?" and to "is it b?". If there are no other levels, the first is asked.
        X = X[X.notna().all(axis=1)]
    Z = X.apply(lambda column: column.map(mirrored, na_action="ignore"))
    expected = one.predict_proba(X)[:, ::-1]
    np.testing.assert_allclose(other.predict_proba(Z), expected, **rounding(classifier))


def where_networks_that_tie_agree(table, settings):
    """Equivalent networks always tie, and say the same where rows are complete and priors are of that score."""
    if "search" not in settings:
        return table, settings
    settings = settings | {"search": "exact", "criterion": "bdeu", "max_parents": None, "parameters": "dirichlet"}
    return table.take(table.X.notna().all(axis=1).to_numpy()), settings


def without_draws(classifier):
    """Settings by which no rows are held out: which ones are depends on what they are called."""
    fixed = {"held_out": False, "patience": None, "subsample": 1.0, "base": "tan"}
    fixed |= {"weight_penalty": 30.0, "correction_penalty": 10.0, "edge_penalty": 30.0}
    return {name: value for name, value in fixed.items() if name in signature(classifier).parameters}


def rounding(classifier):
    """Return tolerances: fits that stop near an optimum depend on rounding errors more than others."""
    iterated = classifier in (tanbark.EvidenceBN, tanbark.BoostedTables, tanbark.EnsembleBN)
    return {"rtol": 1e-3, "atol": 1e-4} if iterated else {"rtol": 1e-7, "atol": 1e-9}


def all_members_decided(model, X):
    """Of which rows no member of a committee finds two classes equally probable: it votes for the first of them."""
    decided = np.ones(len(X), bool)
    for network in getattr(model, "networks_", ()):
        with np.errstate(invalid="ignore"):
            posterior = softmax(network.log_joint(model.schema_.encode(X)), axis=1)
        decided &= np.ptp(np.sort(posterior)[:, -2:], axis=1) > 1e-9
    return decided


def mirrored(value):
    """A name such that names sort the other way round."""
    return "".join(chr(1200 - ord(letter)) for letter in value)


@every_without_ties
@law
def test_the_order_of_columns_changes_nothing_where_no_tie_is_broken(classifier, data):
    table, settings = where_networks_that_tie_agree(
        data.draw(tables_without_ties()), data.draw(settings_of(classifier))
    )
    order = data.draw(st.permutations(list(table.X)))
    one = fitted(classifier, settings, table)
    other = classifier(**settings).fit(table.X[order], table.y, table.weights)
    X = asked(table.X)
    np.testing.assert_allclose(other.predict_proba(X[order]), one.predict_proba(X), **rounding(classifier))


@tried
@given(tables(), st.lists(st.integers(0, 500), max_size=5), st.randoms())
def test_counts_add_commute_and_subtract(table, cuts, random):
    assume(len(table.y))
    encoder = tanbark.Encoder().fit(table.X, table.y, table.weights)
    schema = encoder.schema_
    kept = np.isin(table.y, schema.class_labels)
    table = table.take(np.flatnonzero(kept))

    def counted(part, order):
        return Counts.of(schema, schema.encode(part.X), schema.encode_target(part.y), part.weights, order)

    for order in (1, 2):
        whole = counted(table, order)
        parts = [table.take(rows) for rows in np.split(np.arange(len(table.y)), sorted(cuts))]
        random.shuffle(parts)
        each = [counted(part, order) for part in parts]
        total, turned = sum(each, Counts.zero(schema, order)), sum(each[::-1], Counts.zero(schema, order))
        exact = table.weights is None or np.array_equal(table.weights, table.weights.round())
        slack = 0.0 if exact else 1e-12 * max(table.weights.sum(), 1.0)
        for one, other in (
            (total, whole),
            (turned, whole),
            (whole - each[0], sum(each[1:], Counts.zero(schema, order))),
        ):
            np.testing.assert_allclose(one.class_counts, other.class_counts, rtol=0, atol=slack)
            np.testing.assert_allclose(one.table, other.table, rtol=0, atol=slack)
        assert each[0] + whole == whole + each[0]
        assert whole * 0 == whole - whole


def test_every_kind_of_column_is_drawn():
    """The laws are worth what their tables are: each kind, hole, weight and size comes up."""
    seen, rows, arities, classes = set(), set(), set(), set()

    @settings(max_examples=100, derandomize=True)
    @given(tables())
    def look(table):
        rows.add(len(table.y))
        classes.add(len(set(table.y.tolist())))
        for name in table.X:
            seen.add(str(table.X[name].dtype))
            arities.add(table.X[name].nunique())

    look()
    assert {"object", "category", "bool", "float64", "int64"} <= seen
    assert min(rows) < 10
    assert max(rows) > 300
    assert max(arities) > 100
    assert max(classes) > 20


@every
def test_every_setting_is_drawn_or_left_out_for_a_reason(classifier):
    drawn = {*CHOICES.get(classifier.__name__, ()), "parameters", "ess"}
    assert {*signature(classifier).parameters} <= drawn | {*" ".join(NOT_DRAWN).split()}

"""Learning from encoded rows and from counts, and models that are set."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from tanbark import AODE, TAN, BayesNet, Counts, MarkovBlanketSelector, NaiveBayes, Stream
from tanbark.classifiers.prequential_update import pending_update
from tanbark.counts import Rows


@pytest.fixture
def rows(random_table):
    schema, codes, y = random_table(0, 200, (2, 3, 2), 2)
    return Rows(schema, codes, y)


def counted(rows, order=2):
    return Counts.of(rows.schema, rows.codes, rows.classes, order=order)


def test_encoded_rows_and_their_counts_give_the_same_model(rows):
    one, other = TAN().fit_encoded(rows), TAN().fit_counts(counted(rows))
    assert one.network_.edges == other.network_.edges
    assert np.array_equal(one.model_.log_scores(rows.codes), other.model_.log_scores(rows.codes))


def test_encoded_rows_need_valid_parameters_and_counts_of_pairs(rows):
    with pytest.raises(ValueError, match="ess must be"):
        TAN(ess=-1).fit_encoded(rows)
    with pytest.raises(ValueError, match="learns from counts of pairs"):
        TAN().fit_encoded(rows, counted(rows, order=1))


def test_counts_can_be_added_to_a_fitted_model_that_learns_from_them(rows):
    model = TAN().fit_encoded(rows).add_counts(counted(rows), former_weight=0.5)
    assert model.counts_.class_counts.sum() == 300
    with pytest.raises(AttributeError, match="counts families of several attributes"):
        BayesNet().fit_encoded(rows).add_counts(counted(rows))
    with pytest.raises(ValueError, match="not fitted yet"):
        TAN().add_counts(counted(rows))


def test_a_model_that_is_set_replaces_everything_that_was_learned(rows):
    frame = pd.DataFrame({"a": [0, 1, 1], "b": [1, 1, 0]})
    model = NaiveBayes().partial_fit(frame, [0, 1, 1], classes=[0, 1])
    model.chunk_ids_ = ("monday",)
    unnamed = NaiveBayes().fit(frame.to_numpy(), [0, 1, 1])
    model.set_model(unnamed.model_)
    assert not hasattr(model, "feature_names_in_")
    assert (model.chunk_ids_, model.classes_listed_) == ((), False)
    with pytest.raises(TypeError, match="model must be a NetworkModel, got 'SuperParentAverage'"):
        model.set_model(AODE().fit_encoded(rows).model_)


@pytest.mark.parametrize("classifier", [TAN, AODE])
def test_the_arrays_of_a_model_are_read_only(rows, classifier):
    with pytest.raises(ValueError, match="read-only"):
        classifier().fit_encoded(rows).class_log_prior_[0] = 0.0


def test_an_update_without_rows_has_no_scores_and_changes_nothing(rows):
    model = TAN().fit_encoded(rows)
    before = model.model_
    update = pending_update(model)
    update.apply()
    assert np.isnan([update.accuracy, update.log_loss]).all()
    assert model.model_ is before


def test_an_update_is_scored_as_a_stream_scores_a_chunk():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 2)), rng.integers(0, 2, 60)
    more, labels = rng.integers(0, 3, (30, 2)), np.where(np.arange(30) < 3, 7, rng.integers(0, 2, 30))
    stream = Stream(TAN().fit(X, y)).partial_fit(more, labels)
    update = pending_update(TAN().fit(X, y))
    for part in (slice(0, 11), slice(11, 30)):
        update.add(more[part], labels[part])
    assert update.log_loss == pytest.approx(stream.log_loss_, rel=1e-12)
    assert update.accuracy == pytest.approx(stream.accuracy_)
    assert update.rows_of_new_classes == 3
    update.apply()
    assert update.classifier.counts_ == stream.model_.counts_


@pytest.mark.parametrize("name", ["classes_", "network_", "model_", "tree_edges_", "n_features_in_"])
def test_an_attribute_of_an_unfitted_classifier_says_what_to_do(name):
    assert not hasattr(TAN(), name)
    with pytest.raises(
        NotFittedError, match=f"this TAN is not fitted yet, so it has no attribute '{name}'; call fit first"
    ):
        getattr(TAN(), name)


@pytest.mark.parametrize(("estimator", "name"), [(Stream(TAN()), "classes_"), (MarkovBlanketSelector(), "support_")])
def test_an_attribute_of_an_unfitted_stream_or_selector_says_what_to_do(estimator, name):
    with pytest.raises(NotFittedError, match=f"is not fitted yet, so it has no attribute '{name}'; call fit first"):
        getattr(estimator, name)


def test_other_missing_attributes_are_reported_as_usual(rows):
    with pytest.raises(AttributeError, match="'TAN' object has no attribute 'colour'"):
        _ = TAN().colour
    with pytest.raises(AttributeError, match="'TAN' object has no attribute 'colour_'"):
        _ = TAN().fit_encoded(rows).colour_
    with pytest.raises(AttributeError, match="no joint distribution"):
        _ = AODE().score_samples

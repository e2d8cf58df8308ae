"""Model files: nothing is lost."""

import os
import re
import stat
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import tanbark
from saved_models import many_levels, table
from tanbark import AODE, KDB, TAN, AdditiveBN, AveragedTAN, BayesNet, BoostedBN, Encoder, NaiveBayes
from tanbark.classifiers import REGISTRY
from tanbark.files import to_bytes

pytestmark = pytest.mark.filterwarnings("ignore:.*most of its probabilities are guesses")

SHARED = Path(__file__).resolve().parents[2] / "shared"

CLASSIFIERS = [entry.classifier for entry in REGISTRY.values()]


@pytest.fixture
def saved(tmp_path):
    X, y = table()
    model = TAN().fit(X, y)
    tanbark.save(model, tmp_path / "model.tanbark")
    return model, tmp_path / "model.tanbark", X, y


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_saving_and_loading_changes_no_bit(classifier, weighted, tmp_path):
    X, y = table()
    weights = np.random.default_rng(1).random(len(y)) if weighted else None
    model = classifier(encoder=Encoder(n_bins=3, missing="state")).fit(X, y, sample_weight=weights)
    tanbark.save(model, tmp_path / "m")
    again = tanbark.load(tmp_path / "m")
    assert again.counts_ == model.counts_
    assert again.counts_.table.dtype == model.counts_.table.dtype
    assert np.array_equal(again.predict_log_proba(X), model.predict_log_proba(X))
    for method in ("predict_joint_log_proba", "score_samples", "explain"):
        if hasattr(model, method):
            assert np.array_equal(getattr(again, method)(X), getattr(model, method)(X))
    if hasattr(model, "network_"):
        assert again.network_.structure == model.network_.structure
    assert {k: v for k, v in again.get_params().items() if k != "encoder"} == {
        k: v for k, v in model.get_params().items() if k != "encoder"
    }
    assert list(again.feature_names_in_) == list(model.feature_names_in_)


@pytest.mark.parametrize("classifier", [c for c in CLASSIFIERS if hasattr(c(), "partial_fit")])
def test_a_loaded_model_goes_on_learning(classifier, tmp_path):
    X, y = table()
    whole = classifier().fit(X, y)
    tanbark.save(classifier(encoder=whole.schema_).fit(X[:50], y[:50]), tmp_path / "m")
    again = tanbark.load(tmp_path / "m").partial_fit(X[50:], y[50:])
    assert again.counts_ == whole.counts_
    assert np.array_equal(again.predict_proba(X), whole.predict_proba(X))


FROM_COUNTS = [TAN, AODE, AveragedTAN, AdditiveBN, KDB, BayesNet, BoostedBN]


@pytest.mark.parametrize("classifier", FROM_COUNTS)
def test_a_model_of_columns_with_many_levels_takes_little_room_and_loses_nothing(classifier, tmp_path):
    X, y = many_levels()
    model = classifier().fit(X, y)
    tanbark.save(model, tmp_path / "m")
    assert model.counts_.table.nbytes > 10**7
    assert (tmp_path / "m").stat().st_size < 300_000
    again = tanbark.load(tmp_path / "m")
    assert again.counts_ == model.counts_
    assert np.array_equal(again.predict_log_proba(X), model.predict_log_proba(X))
    # What was left out of the file, or is read from it, is saved once more.
    tanbark.save(again, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("classifier", [TAN, AODE, AveragedTAN])
def test_a_loaded_model_of_sparse_counts_goes_on_learning(classifier, tmp_path):
    X, y = many_levels()
    whole = classifier().fit(X, y)
    tanbark.save(classifier(encoder=whole.schema_).fit(X[:200], y[:200]), tmp_path / "m")
    again = tanbark.load(tmp_path / "m").partial_fit(X[200:], y[200:])
    assert again.counts_ == whole.counts_
    assert np.array_equal(again.predict_proba(X), whole.predict_proba(X))


def test_a_model_with_a_prior_of_counts_keeps_what_does_not_follow_from_its_own(tmp_path):
    X, y = many_levels()
    schema = TAN().fit(X, y).schema_
    prior = TAN(encoder=schema).fit(X[:50], y[:50]).counts_
    model = AveragedTAN(prior=prior, encoder=schema).fit(X[50:], y[50:])
    tanbark.save(model, tmp_path / "m")
    again = tanbark.load(tmp_path / "m")
    assert again.prior == prior
    assert np.array_equal(again.predict_log_proba(X), model.predict_log_proba(X))


def test_settings_changed_after_fitting_do_not_change_a_saved_model(tmp_path):
    X, y = table()
    for classifier in (AODE, AveragedTAN, AdditiveBN):
        model = classifier().fit(X, y)
        tanbark.save(model.set_params(ess=1000), tmp_path / "m")
        assert np.array_equal(tanbark.load(tmp_path / "m").predict_log_proba(X), model.predict_log_proba(X))


def test_members_share_the_counts_of_the_whole_or_keep_their_own(tmp_path):
    """Naive Bayes has counts of single values, and a tree the same counts of pairs as the whole."""
    X, y = many_levels(columns=4)
    model = AdditiveBN(weak=[NaiveBayes(), TAN()]).fit(X, y)
    tanbark.save(model, tmp_path / "m")
    members = tanbark.load(tmp_path / "m").members_
    assert [member.counts_.order for member in members] == [1, 2]
    assert [member.counts_ for member in members] == [member.counts_ for member in model.members_]
    names = safe_open(str(tmp_path / "m"), "np").keys()
    assert [name for name in names if "table" in name and "log" not in name] == [
        "member_0_table",
        "table_gaps",
        "table_values",
    ]


MANY_ROWS = 5000


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"the tables of {SHARED} are not there")
def test_files_are_at_most_thrice_as_large_as_the_table_or_a_megabyte():
    tables = sorted([*SHARED.glob("data/*.csv*"), *SHARED.glob("more_data/*.csv*")])
    found = {}
    for path in tables:
        if path.name == "MANIFEST.csv":
            continue
        frame = pd.read_csv(path, nrows=MANY_ROWS, low_memory=False)
        limit = max(10**6, 3 * len(frame.to_csv(index=False)))
        X, y = frame.drop(columns="class"), frame["class"].astype(str)
        for classifier in (NaiveBayes, TAN, AODE, AveragedTAN, KDB):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                size = len(to_bytes(classifier().fit(X, y)))
            found |= {(path.name, classifier.__name__): f"{size:,} > {limit:,}"} if size > limit else {}
    assert len(tables) > 80
    assert found == {}


@pytest.mark.parametrize(
    "labels",
    [[0, 1], [1.0, 2.0], ["1", "2"], [False, True], np.array([3, 7], np.int16), pd.Series(["a", "b"]), ["ä,\n", '"']],
    ids=str,
)
def test_the_types_of_labels_survive(labels, tmp_path):
    y = np.asarray(labels)[[0, 1, 0, 1]]
    model = NaiveBayes().fit([[0], [1], [0], [1]], y)
    tanbark.save(model, tmp_path / "m")
    again = tanbark.load(tmp_path / "m")
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()
    assert [type(v) for v in again.predict([[0], [1]]).tolist()] == [type(v) for v in y[:2].tolist()]


@pytest.mark.parametrize("levels", [[0, 1], ["0", "1"], [False, True]], ids=str)
def test_the_types_of_levels_survive(levels, tmp_path):
    X = np.array(levels, object)[[0, 1, 0, 1]].reshape(-1, 1)
    tanbark.save(NaiveBayes().fit(X, [0, 1, 1, 1]), tmp_path / "m")
    kept = tanbark.load(tmp_path / "m").schema_.columns[0].levels
    assert [(type(v), v) for v in kept] == [(type(v), v) for v in levels]


def test_settings_with_arrays_and_schemas_survive(tmp_path):
    X, y = table()
    schema = TAN().fit(X, y).schema_
    tanbark.save(TAN(encoder=schema, class_prior=np.array([0.2, 0.3, 0.5])).fit(X, y), tmp_path / "m")
    again = tanbark.load(tmp_path / "m")
    assert again.encoder == schema
    assert again.class_prior == [0.2, 0.3, 0.5]
    again.fit(X, y)


def test_only_fitted_classifiers_of_ours_are_saved(tmp_path):
    with pytest.raises(TypeError, match="only tanbark's classifiers"):
        tanbark.save("text", tmp_path / "m")
    with pytest.raises(Exception, match="not fitted"):
        tanbark.save(TAN(), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wrapped", "inside"),
    [
        (make_pipeline(TAN()), "the classifier inside, for example its last step, [-1]"),
        (GridSearchCV(TAN(), {"ess": [1.0, 2.0]}, cv=2), "the classifier inside, for example its best_estimator_"),
        (CalibratedClassifierCV(TAN(), cv=2), "the classifier inside"),
        (LogisticRegression(), "the classifier inside"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_for_estimators_around_ours_the_message_names_what_can_save_them(wrapped, inside, tmp_path):
    rng = np.random.default_rng(0)
    fitted = wrapped.fit(rng.integers(0, 3, (40, 2)), rng.integers(0, 2, 40))
    sentence = (
        f"tanbark's format holds classifiers of tanbark only, not {type(wrapped).__name__!r}; save the whole with "
        f"skops or joblib, or only {inside}"
    )
    with pytest.raises(TypeError, match=f"^{re.escape(sentence)}$"):
        tanbark.save(fitted, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_saving_replaces_the_old_file_whole_and_leaves_no_litter(saved):
    _, path, X, y = saved
    tanbark.save(NaiveBayes().fit(X, y), path)
    assert isinstance(tanbark.load(path), NaiveBayes)
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_a_folder_that_is_not_there_is_an_error_without_litter(saved, tmp_path):
    model, _, _, _ = saved
    with pytest.raises(FileNotFoundError):
        tanbark.save(model, tmp_path / "nowhere" / "m")


@pytest.mark.parametrize("release", sorted((Path(__file__).parent / "releases").iterdir()), ids=lambda p: p.name)
def test_the_file_of_each_release_still_answers_as_pyagrum_does(release, reference):
    """Each release saved a TAN of car_evaluation.csv (ess=10); pyAgrum computed the same network's answers."""
    figures = reference("pyagrum_tan")["sets"]["car_evaluation"]["BDeu, weight 10, given the maximum tree"]
    model = tanbark.load(release)
    for case in figures["queries"]:
        answer = model.network_.query(case["target"], case["evidence"])
        np.testing.assert_allclose(list(answer.values()), case["proba"], rtol=1e-9)


@pytest.mark.parametrize("place", ["level", "class", "column", "class column"])
@pytest.mark.parametrize("half", ["\ud800", "a\udc80b"])
def test_a_text_that_is_not_valid_unicode_cannot_be_saved_and_changes_no_file(place, half, saved):
    _, path, _, _ = saved
    before = path.read_bytes()
    texts = {"level": "p", "class": "no", "column": "x", "class column": "y"} | {place: half}
    X = pd.DataFrame([[texts["level"]], ["q"]], columns=pd.Index([texts["column"]], dtype=object), dtype=object)
    model = NaiveBayes().fit(X, pd.Series([texts["class"], "yes"], name=texts["class column"], dtype=object))
    with pytest.raises(ValueError, match=r"^a name or label is not valid Unicode: '.*\\ud") as caught:
        tanbark.save(model, path)
    # The message itself can be printed anywhere.
    assert str(caught.value).isascii()
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_characters_beyond_the_basic_plane_are_saved(tmp_path):
    model = NaiveBayes().fit(np.array([["👩"], ["𝔘"]], object), ["🌧", "🌞"])
    tanbark.save(model, tmp_path / "m")
    again = tanbark.load(tmp_path / "m")
    assert set(again.schema_.columns[0].levels) == {"👩", "𝔘"}
    assert set(again.classes_) == {"🌧", "🌞"}


def test_a_folder_that_is_not_there_is_named_with_the_file_the_user_gave(saved, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere/m'"):
        tanbark.save(saved[0], tmp_path / "nowhere" / "m")

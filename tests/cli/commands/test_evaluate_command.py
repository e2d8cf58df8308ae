import json

import numpy as np
import pytest
from sklearn import metrics

import tanbark


@pytest.fixture
def model(write, run, table, tmp_path):
    write(table.slice(0, 25), tmp_path / "train.csv")
    run("fit", "train.csv", "-t", "walk", "--model", "tan", "--cv", 0, "-o", "m.tanbark")
    return tanbark.load("m.tanbark")


def test_the_figures_are_those_of_scikit_learn(write, run, table, model, tmp_path):
    test = table.slice(25)
    write(test, tmp_path / "test.csv")
    found = json.loads(run("evaluate", "m.tanbark", "test.csv", "--json").stdout)
    y = np.array(test.column("walk").to_pylist())
    proba = model.predict_proba(test.drop_columns(["walk"]))
    predicted = model.classes_[proba.argmax(axis=1)]
    assert (found["file"], found["data"], found["target"], found["rows"]) == ("m.tanbark", "test.csv", "walk", 15)
    assert found["accuracy"]["mean"] == metrics.accuracy_score(y, predicted)
    assert found["log_loss"]["mean"] == pytest.approx(metrics.log_loss(y, proba, labels=model.classes_))
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(y == "yes", proba[:, 1]), abs=1e-6)
    assert found["brier"] == pytest.approx(2 * metrics.brier_score_loss(y == "yes", proba[:, 1]))
    assert found["confusion"] == metrics.confusion_matrix(y, predicted).tolist()
    precision, recall, _, support = metrics.precision_recall_fscore_support(y, predicted, zero_division=np.nan)
    assert [each["name"] for each in found["classes"]] == ["no", "yes"]
    np.testing.assert_allclose([each["precision"] for each in found["classes"]], precision)
    np.testing.assert_allclose([each["recall"] for each in found["classes"]], recall)
    assert [each["rows"] for each in found["classes"]] == support.tolist()


def test_it_prints_the_figures_and_the_confusion_matrix(write, run, table, model, tmp_path):
    write(table.slice(25), tmp_path / "test.csv")
    shown = run("evaluate", "m.tanbark", "test.csv").stdout
    assert shown.startswith("m.tanbark on test.csv: 15 rows with a known walk\naccuracy")
    assert ["true", "class", "rows", "recall", "precision", "as", "no", "as", "yes"] in map(
        str.split, shown.splitlines()
    )


def test_the_baseline_is_the_most_frequent_class_and_the_class_frequencies_of_the_rows(
    write, run, table, model, tmp_path
):
    write(table.slice(25), tmp_path / "test.csv")
    found = json.loads(run("evaluate", "m.tanbark", "test.csv", "--json").stdout)
    y = np.array(table.slice(25).column("walk").to_pylist())
    share = max((y == "yes").mean(), (y == "no").mean())
    commonest = "yes" if (y == "yes").mean() == share else "no"
    constant = metrics.log_loss(y == commonest, np.full(15, share))
    assert found["baseline"] == {"class": commonest, "accuracy": share, "log_loss": pytest.approx(constant)}
    shown = run("evaluate", "m.tanbark", "test.csv").stdout
    assert f"always predicting '{commonest}': {share:.1%}" in shown
    assert f"class frequencies: {constant:.3f}" in shown


def test_training_rows_are_noted_in_any_order_and_under_any_name(write, run, table, model, tmp_path):
    train = table.slice(0, 25)
    write(train.take(list(range(24, -1, -1))), tmp_path / "copy.parquet")
    write(train.slice(0, 24), tmp_path / "fewer.csv")
    write(table.slice(15), tmp_path / "others.csv")
    found = json.loads(run("evaluate", "m.tanbark", "copy.parquet", "--json").stdout)
    assert found["training_rows"]
    assert found["notes"][0].startswith("these are the rows that the model learned from")
    for name in ("fewer.csv", "others.csv"):
        assert not json.loads(run("evaluate", "m.tanbark", name, "--json").stdout)["training_rows"]


def test_batches_do_not_matter(write, run, table, model, tmp_path, monkeypatch):
    write(table, tmp_path / "test.csv")
    whole = json.loads(run("evaluate", "m.tanbark", "test.csv", "--json").stdout)
    monkeypatch.setattr("tanbark.sources.source.MAX_BATCH_ROWS", 7)
    found = json.loads(run("evaluate", "m.tanbark", "test.csv", "--json").stdout)
    assert found["confusion"] == whole["confusion"]
    for metric in ("brier", "auc", "calibration_error"):
        assert found[metric] == pytest.approx(whole[metric])
    assert found["log_loss"] == pytest.approx(whole["log_loss"])


def test_rows_without_a_class_and_of_unknown_classes_are_noted(run, model, tmp_path):
    (tmp_path / "test.csv").write_text(
        "sky,wind,degrees,went\nsun,1,12.5,yes\nsun,1,12.5,\nrain,2,11,maybe\nsun,0,x,no\n"
    )
    found = json.loads(run("evaluate", "m.tanbark", "test.csv", "-t", "went", "--json").stdout)
    assert (found["rows"], found["unlabelled"], found["unknown"]) == (3, 1, 1)
    assert found["notes"][0].startswith("column 'degrees': expected numbers, but 1 of 4 values is not ('x')")
    assert found["notes"][-2] == "1 row without a value of 'went' was left out"
    assert found["notes"][-1].startswith("1 row has a value of 'went' that is not a class of the model")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sky,wind,degrees\nsun,1,2\n", "test.csv has no column 'walk', the class of the model; name the column with"),
        ("sky,wind,degrees,walk\nsun,1,2,\n", "no row has a class; there is nothing to evaluate"),
        ("sky,wind,degrees,walk\nsun,1,2,maybe\n", "no row has a class that the model knows"),
        ("wind,walk\n1,yes\n", "test.csv lacks the columns 'sky', 'degrees', which the model needs"),
    ],
)
def test_rows_that_cannot_be_evaluated_get_one_sentence(run, model, tmp_path, text, sentence):
    (tmp_path / "test.csv").write_text(text)
    assert sentence in run("evaluate", "m.tanbark", "test.csv", code=1).stderr

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


def test_weighted_figures_are_those_of_repeated_rows(write, run, table, model, tmp_path):
    test, times = table.slice(25), [i % 3 for i in range(15)]
    write(test.append_column("times", [times]), tmp_path / "test.csv")
    write(test.take(np.repeat(np.arange(15), times)), tmp_path / "repeated.csv")
    found = json.loads(run("evaluate", "m.tanbark", "test.csv", "--weight", "times", "--json").stdout)
    again = json.loads(run("evaluate", "m.tanbark", "repeated.csv", "--json").stdout)
    assert found["weight"] == {"column": "times", "total": 15.0}
    assert found["rows"] == 10
    for name in ("accuracy", "log_loss"):
        assert found[name] == pytest.approx(again[name], rel=1e-9)
    for name in ("brier", "auc", "calibration_error"):
        assert found[name] == pytest.approx(again[name], rel=1e-9)
    assert found["confusion"] == again["confusion"]
    shown = run("evaluate", "m.tanbark", "test.csv", "--weight", "times").stdout
    assert shown.startswith("m.tanbark on test.csv: 10 rows with a known walk, weighted by 'times' to a total of 15\n")


def test_mean_costs_are_those_of_decisions_of_least_expected_cost(write, run, table, model, tmp_path):
    test = table.slice(25)
    y = np.array(test.column("walk").to_pylist(), object)
    y[3] = "perhaps"
    times = np.arange(15) % 3
    write(test.set_column(3, "walk", [y.tolist()]).append_column("times", [times.tolist()]), tmp_path / "test.csv")
    proba = model.predict_proba(test.drop_columns(["walk"]))
    cost = {("no", "yes"): 7.0, ("yes", "no"): 1.0, ("perhaps", "no"): 1.0, ("perhaps", "yes"): 1.0}
    plain = model.classes_[proba.argmax(axis=1)]
    least = np.where(7 * proba[:, 0] <= proba[:, 1], "yes", "no")
    for options, weights in ((), None), (("--weight", "times"), times):
        means = [
            np.average([cost.get(pair, 0.0) for pair in zip(y.tolist(), of.tolist())], weights=weights)
            for of in (least, plain)
        ]
        words = ("evaluate", "m.tanbark", "test.csv", "--cost", "no:yes=7", *options)
        found = json.loads(run(*words, "--json").stdout)
        assert [found["mean_cost"], found["mean_cost_of_most_probable"]] == pytest.approx(means)
        assert found["costs"] == [{"true": "no", "predicted": "yes", "cost": 7.0}]
        assert f"per row; {means[1]:.3f} for the most probable class" in run(*words).stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--weight", "times"), "test.csv has no column 'times'; it has 'sky', 'wind', 'degrees', 'walk'"),
        (("--weight", "walk"), "'walk' is the class and cannot have the option --weight"),
        (("--weight", "sky"), "column 'sky' holds 'rain' in row 1; --weight needs a number of at least 0 in every row"),
        (("--cost", "no:maybe=2"), "--cost names 'maybe', which is not a class; the classes are 'no', 'yes'"),
    ],
)
def test_weights_and_costs_that_make_no_sense_are_refused(write, run, table, model, tmp_path, options, words):
    write(table.slice(25), tmp_path / "test.csv")
    assert words in run("evaluate", "m.tanbark", "test.csv", *options, code=1).stderr

from __future__ import annotations

import gzip
import json
import os
import time

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest
from numba.core import event

import tanbark
from tanbark.cli.commands.fit_command import _model_name
from tanbark.datasets import lenses


def expected(table, target, model=None, **settings):
    """Return the model that Python learns from the same table."""
    y = nw.from_native(table.column(target), series_only=True).alias(target)
    return (model or tanbark.EvidenceBN)(**settings).fit(table.drop_columns([target]), y)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arff", "t.jsonl"])
def test_every_format_gives_the_model_that_python_learns(write, run, table, tmp_path, name):
    write(table, tmp_path / name)
    run("fit", name, "--target", "walk", "--cv", 0)
    model = tanbark.load("t.tanbark")
    peer = expected(table, "walk")
    X = table.drop_columns(["walk"])
    assert model.schema_.class_name == "walk"
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.predict_proba(X), peer.predict_proba(X))


def test_the_summary_says_what_a_person_wants_to_know(write, run, table, tmp_path):
    write(table, tmp_path / "t.csv")
    said = run("fit", "t.csv", "--target", "walk", "--ignore", "wind").stdout
    share = table.column("walk").to_pylist().count("yes") / 40
    for words in (
        "40 rows, 4 columns",
        f"yes {share:.1%}",
        "sky (3)",
        "degrees 10.0%",
        "5-fold cross-validation",
        "tanbark show t.tanbark",
        "tanbark fit t.csv --target walk --ignore wind --best -o best.tanbark",
    ):
        assert words in said


def test_the_columns_are_listed_by_their_evidence_for_the_class(write, run, table, tmp_path):
    write(table, tmp_path / "t.csv")
    said = run("fit", "t.csv", "--target", "walk", "--cv", 0).stdout
    model = tanbark.load("t.tanbark")
    evidence = np.abs(model.explain(table.drop_columns(["walk"]))[:, 1:]).mean(axis=(0, 2))
    lines = said.partition("Mean absolute evidence of the columns")[2].splitlines()[1:4]
    order = np.argsort(-evidence)
    assert [line.split()[:2] for line in lines] == [[model.schema_.names[u], f"{evidence[u]:.3f}"] for u in order]


def test_a_long_list_of_columns_is_cut(run, tmp_path):
    rng = np.random.default_rng(0)
    names = [f"x{u}" for u in range(45)]
    rows = ["".join(f"{v}," for v in row) + "pq"[row[0]] for row in rng.integers(0, 2, (40, 45))]
    (tmp_path / "t.csv").write_text("\n".join([",".join([*names, "class"]), *rows]))
    said = run("fit", "t.csv", "--cv", 0).stdout
    listed = said.partition("Mean absolute evidence of the columns")[2].splitlines()
    assert listed[1].startswith("x0")
    assert listed[11].startswith("and 35 more: 'x")


def test_best_is_the_ensemble_unless_a_model_is_named(write, run, table, tmp_path):
    assert _model_name(None, best=True) == "ensemble-bn"
    assert _model_name(None, best=False) == "evidence-bn"
    write(table, tmp_path / "t.csv")
    said = run("fit", "t.csv", "-t", "walk", "--best", "--model", "tan", code=1).stderr
    assert said == "error: --best means --model ensemble-bn; give one of them, got --model tan as well\n"


@pytest.mark.parametrize("model", ["tan", "naive-bayes"])
def test_a_network_is_drawn(write, run, table, tmp_path, model):
    write(table, tmp_path / "t.csv")
    said = run("fit", "t.csv", "--target", "walk", "--cv", 0, "--model", model).stdout
    network = tanbark.load("t.tanbark").network_
    drawn = str(network) in "\n".join(line.rstrip() for line in said.splitlines())
    assert drawn == bool(network.edges)
    assert "--best" not in said


def test_a_gzipped_csv_is_read(write, run, table, tmp_path):
    write(table, tmp_path / "t.csv")
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    run("fit", "z.csv.gz", "--target", "walk", "--cv", 0)
    assert tanbark.load("z.tanbark").counts_.class_counts.sum() == 40


def test_a_pattern_reads_all_its_files_whatever_the_order_of_their_columns(write, run, table, tmp_path):
    write(table.slice(0, 15), tmp_path / "part1.csv")
    write(table.slice(15).select(["walk", "degrees", "wind", "sky"]), tmp_path / "part2.csv")
    run("fit", "part*.csv", "--target", "walk", "-o", "all.tanbark", "--cv", 0)
    X = table.drop_columns(["walk"])
    proba = tanbark.load("all.tanbark").predict_proba(X)
    np.testing.assert_array_equal(proba, expected(table, "walk").predict_proba(X))


def test_files_of_a_pattern_must_have_the_same_columns(write, run, table, tmp_path):
    write(table, tmp_path / "part1.csv")
    write(table.drop_columns(["wind"]), tmp_path / "part2.csv")
    assert "part2.csv has no column 'wind'" in run("fit", "part*.csv", "-t", "walk", code=1).stderr


@pytest.mark.parametrize(("late", "levels"), [(1, tuple(range(9))), (4000, (*map(str, range(9)), "late"))])
def test_late_texts_count_as_missing_unless_they_are_more_than_a_tenth(run, tmp_path, late, levels):
    rows = "".join(f"{i % 9},{'ab'[i % 2]}\n" for i in range(30_000))
    (tmp_path / "t.csv").write_text(f"x,class\n{rows}" + "late,a\n" * late)
    said = run("fit", "t.csv", "--cv", 0).stdout
    assert ("1 of 30,001 values was not ('late') and counts as missing" in said) == (late == 1)
    assert tanbark.load("t.tanbark").schema_.columns[0].levels == levels


def test_missing_tokens_are_the_usual_ones(run, tmp_path):
    values = ["", "NA", "NaN", "null", "?", "1.5", "2.5", "3.5"]
    (tmp_path / "t.csv").write_text("x,z,class\n" + "".join(f"{v},{v},{'ab'[i % 2]}\n" for i, v in enumerate(values)))
    run("fit", "t.csv", "--cv", 0, "--model", "tan")
    model = tanbark.load("t.tanbark")
    assert (model.schema_.columns[0].low, model.schema_.columns[0].high) == (1.5, 3.5)
    assert model.counts_.value(0).sum() == 3


@pytest.mark.parametrize(("option", "levels"), [("--missing", ("low",)), ("--missing-only", ("NA", "low"))])
def test_missing_adds_to_the_list_and_missing_only_replaces_it(run, tmp_path, option, levels):
    (tmp_path / "t.csv").write_text("x,class\n-,a\nNA,b\nunknown,a\nlow,b\n")
    run("fit", "t.csv", option, "-", option, "unknown", "--cv", 0)
    assert tanbark.load("t.tanbark").schema_.columns[0].levels == levels


def test_yes_and_no_stay_words(run, tmp_path):
    (tmp_path / "t.csv").write_text("x,class\nt,yes\nf,no\ntrue,yes\n")
    run("fit", "t.csv", "--cv", 0)
    model = tanbark.load("t.tanbark")
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.schema_.columns[0].levels == ("f", "t", "true")


def test_levels_that_an_arff_file_declares_are_levels_in_that_order(run, tmp_path):
    (tmp_path / "t.arff").write_text(
        "@relation t\n@attribute size {small, medium, 'very large'}\n@attribute class {no, yes}\n"
        "@data\nsmall,no\n'very large',yes\nsmall,yes\n"
    )
    run("fit", "t.arff", "--cv", 0, "--model", "tan")
    model = tanbark.load("t.tanbark")
    assert model.schema_.columns[0].levels == ("small", "medium", "very large")
    assert model.counts_.value(0).sum(axis=0).tolist() == [2, 0, 1]
    frame = pa.table({"size": ["medium"]})
    # No row of either class had it, so only the prior and the sizes of the classes speak.
    assert model.network_.table("size").shape == (2, 3)
    assert model.predict_proba(frame).sum() == pytest.approx(1.0)


def test_ignored_columns_are_left_out(write, run, table, tmp_path):
    write(table, tmp_path / "t.csv")
    run("fit", "t.csv", "-t", "walk", "--ignore", "wind", "--ignore", "sky")
    assert tanbark.load("t.tanbark").schema_.names == ("degrees",)


def test_categorical_adds_to_what_is_a_category_anyway(write, run, table, tmp_path):
    write(table, tmp_path / "t.csv")
    run("fit", "t.csv", "-t", "walk", "--categorical", "degrees")
    kinds = [type(c).__name__ for c in tanbark.load("t.tanbark").schema_.columns]
    assert kinds == ["Category", "Category", "Category"]


def test_options_reach_the_model(write, run, table, tmp_path):
    write(table, tmp_path / "t.csv")
    options = ["--bins", "width", "--n-bins", 3, "--ess", 2.5, "--set", "criterion=bdeu"]
    run("fit", "t.csv", "-t", "walk", "--model", "tan", *options)
    model = tanbark.load("t.tanbark")
    encoder = tanbark.Encoder(bins="width", n_bins=3)
    peer = expected(table, "walk", tanbark.TAN, ess=2.5, criterion="bdeu", encoder=encoder)
    X = table.drop_columns(["walk"])
    np.testing.assert_array_equal(model.predict_proba(X), peer.predict_proba(X))


def test_naive_bayes_can_be_asked_for(write, run, table, tmp_path):
    write(table, tmp_path / "t.csv")
    run("fit", "t.csv", "-t", "walk", "--model", "naive-bayes", "-o", "nb.tanbark")
    X = table.drop_columns(["walk"])
    peer = expected(table, "walk", tanbark.NaiveBayes)
    np.testing.assert_array_equal(tanbark.load("nb.tanbark").predict_proba(X), peer.predict_proba(X))


def test_models_are_listed_from_the_registry(run):
    from tanbark.classifiers.registry import REGISTRY

    said = run("fit", "--list-models").stdout
    assert all(entry.name in said for entry in REGISTRY.values())


def test_the_class_column_is_found_by_its_usual_name(write, run, tmp_path):
    write(lenses().frame(), tmp_path / "t.csv")
    run("fit", "t.csv")
    assert tanbark.load("t.tanbark").schema_.class_name == "class"


def test_identifiers_and_rows_without_a_class_are_noted(run, tmp_path):
    rows = "".join(f"{i},k{i},{i % 3},{'ab'[i % 2]}\n" for i in range(30))
    (tmp_path / "t.csv").write_text(f"n,key,x,class\n{rows}31,k31,1,?\n32,k32,1,\n")
    said = run("fit", "t.csv").stdout
    assert "note: 2 rows without a class are dropped" in said
    assert "column 'key' has 30 levels in 30 rows" in said
    assert "leave it out with --ignore" in said


def test_a_column_that_numbers_the_rows_is_noted(run, tmp_path):
    rows = "".join(f"{i},{i % 3},{'ab'[i % 2]}\n" for i in range(30))
    (tmp_path / "t.csv").write_text(f"n,x,class\n{rows}")
    assert "column 'n' numbers the rows" in run("fit", "t.csv").stdout


def test_one_class_is_learned_with_a_note(run, tmp_path):
    (tmp_path / "t.csv").write_text("x,class\na,only\nb,only\n")
    said = run("fit", "t.csv").stdout
    assert "nothing to predict" in said
    assert "--best" not in said
    assert tanbark.load("t.tanbark").predict_proba(pa.table({"x": ["a"]})).tolist() == [[1.0]]


def test_one_row_is_learned(run, tmp_path):
    (tmp_path / "t.csv").write_text("x,class\na,p\n")
    assert "t.csv: 1 row, 2 columns\n" in run("fit", "t.csv").stdout
    assert tanbark.load("t.tanbark").counts_.class_counts.tolist() == [1]


def test_few_rows_are_not_cross_validated(run, tmp_path):
    (tmp_path / "t.csv").write_text("x,class\na,p\nb,q\n")
    assert "too few for a 5-fold cross-validation" in run("fit", "t.csv").stdout


def test_compiling_is_no_learning(write, run, table, tmp_path, monkeypatch):
    def fit(model, X, y, sample_weight=None):
        with event.trigger_event("numba:compiler_lock"):
            time.sleep(0.5)
        return learn(model, X, y, sample_weight)

    learn = tanbark.TAN.fit
    monkeypatch.setattr(tanbark.TAN, "fit", fit)
    write(table, tmp_path / "t.csv")
    assert json.loads(run("fit", "t.csv", "-t", "walk", "-m", "tan", "--cv", 0, "--json").stdout)["seconds"] < 0.4


def test_brackets_in_names_are_printed_as_they_are(run, tmp_path):
    (tmp_path / "t.csv").write_text("[red]x[/red],class\n[b]a,p\n[b]b,q\n[b]a,p\n")
    assert "[red]x[/red] (2)" in run("fit", "t.csv").stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nothere.csv"], "there is no file nothere.csv"),
        (["nothere*.csv"], "no file matches nothere*.csv"),
        (["t.csv"], "name the class column with --target; t.csv has 'sky', 'wind', 'degrees', 'walk'"),
        (["t.csv", "-t", "run"], "t.csv has no column 'run'; it has 'sky'"),
        (["t.csv", "-t", "walk", "--cut", "degrees"], "--cut must have the form COL=A,B,..."),
        (["t.csv", "-t", "walk", "--cut", "degree=3"], "'degree', which is not a column to learn from; did you mean"),
        (["t.csv", "-t", "walk", "--cut", "walk=3"], "--cut names 'walk', which is not a column to learn from"),
        (["t.csv", "-t", "walk", "--cut", "degrees=9,3"], "column 'degrees' must be finite and ascending"),
        (["t.csv", "-t", "walk", "--cut", "degrees=3,x"], "the cut points of column 'degrees' must be numbers"),
        (["t.csv", "-t", "walk", "--cut", "sky=3"], "column 'sky' does not hold numbers"),
        (["t.csv", "-t", "walk", "--cut", "degrees=3", "--bins", "mdlp"], "needs --bins auto for the others"),
        (["t.csv", "-t", "walk", "--cut", "degrees=3", "--cut", "degrees=4"], "names the column 'degrees' twice"),
        (["t.csv", "-t", "walk", "--ignore", "run"], "--ignore names the column 'run'"),
        (["t.csv", "-t", "walk", "--ignore", "walk"], "'walk' is the class and cannot be ignored"),
        (["t.csv", "-t", "walk", "--categorical", "run"], "--categorical names the column 'run'"),
        (["t.csv", "-t", "walk", "--model", "oak"], "there is no model 'oak'; the models are evidence-bn, "),
        (["t.csv", "-t", "walk", "--set", "oak=3"], "the model 'evidence-bn' has no parameter 'oak'"),
        (
            ["t.csv", "-t", "walk", "--bins", "oak"],
            "--bins must be one of auto, modl, mdlp, quantile, width, got 'oak'",
        ),
        (["t.csv", "-t", "walk", "--set", "depth=-1"], "depth must be a whole number of at least 0, got -1"),
        (["t.csv", "-t", "walk", "--n-bins", "0"], "n_bins must be 'auto' or an integer from 1 to 65000, got 0"),
        (["t.csv", "-t", "walk", "--ess", "-1"], "ess must be a positive number"),
        (["t.csv", "-t", "walk", "--cv", "1"], "--cv needs at least 2 folds"),
        (
            ["t.csv", "-t", "walk", "-o", "no/such/m.tanbark"],
            "cannot write no/such/m.tanbark: there is no folder no/such",
        ),
        (["."], "is a folder"),
        (["t.dat", "-t", "walk"], "the name must end in"),
        (["t.xlsx", "-t", "walk"], "t.xlsx is empty; is it a workbook?"),
    ],
)
def test_a_mistake_gets_one_sentence(write, run, table, tmp_path, words, sentence):
    write(table, tmp_path / "t.csv")
    (tmp_path / "t.dat").write_text("")
    (tmp_path / "t.xlsx").write_text("")
    assert sentence in run("fit", *words, code=1).stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_that_has_a_name_is_refused_as_it_can_be_read_only_once(run, tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    assert "t.csv is a pipe or a device" in run("fit", "t.csv", "-t", "walk", code=1).stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "is empty"),
        (b"x,class\n", "has no rows"),
        (b"x,x,class\n1,2,a\n", "two columns named 'x'"),
        (b"class\na\n", "no column left to learn from"),
        (b"x,class\n1,a\n2\n", "line 3: expected 2 values, one per column, got 1"),
        (b"x,class\na,1.5\nb,2.25\n", "cut it into intervals with --bin-target 4"),
        (b"x,class\na,?\nb,?\n", "every value of the class 'class' is missing"),
    ],
)
def test_a_csv_file_that_cannot_be_learned_from_gets_one_sentence(run, tmp_path, text, sentence):
    (tmp_path / "t.csv").write_bytes(text)
    assert sentence in run("fit", "t.csv", "-t", "class", code=1).stderr
    assert not (tmp_path / "t.tanbark").exists()


def test_labels_that_look_like_numbers_or_times_stay_as_written_when_asked(write, run, tmp_path):
    (tmp_path / "odds.csv").write_text("odds,code,walk\n1:30,1e5,a\n2:30,100000,b\n1:30,18446744073709551615,a\n")
    run("fit", "odds.csv", "-t", "walk", "--categorical", "odds", "--categorical", "code", "--cv", "0")
    columns = tanbark.load(tmp_path / "odds.tanbark").schema_.columns
    assert columns[0].levels == ("1:30", "2:30")
    assert columns[1].levels == ("100000", "18446744073709551615", "1e5")
    run("fit", "odds.csv", "-t", "walk", "--cv", "0")
    columns = tanbark.load(tmp_path / "odds.tanbark").schema_.columns
    assert [(column.low, column.high) for column in columns] == [(1.5, 2.5), (1e5, 2.0**64)]


# Weights of rows and classes


def weighted(table):
    return table.append_column("times", pa.array([i % 4 for i in range(table.num_rows)]))


def test_weights_of_rows_are_learned_with_and_are_no_column(write, run, table, tmp_path):
    write(weighted(table), tmp_path / "t.csv")
    said = run("fit", "t.csv", "--target", "walk", "--weight", "times", "-m", "tan").stdout
    y = nw.from_native(table.column("walk"), series_only=True).alias("walk")
    peer = tanbark.TAN().fit(table.drop_columns(["walk"]), y, [i % 4 for i in range(40)])
    assert np.array_equal(tanbark.load("t.tanbark").counts_.table, peer.counts_.table)
    assert "weights      times: a total of 60 over 30 rows" in said
    assert "in 5-fold cross-validation, rows weighted by 'times'" in said
    share = peer.counts_.class_counts / 60
    assert f"no {share[0]:.1%}, yes {share[1]:.1%}" in said


def test_the_figures_of_weighted_rows_are_those_of_python(write, run, table, tmp_path):
    from tanbark.evaluate import cross_validate

    write(weighted(table), tmp_path / "t.csv")
    told = json.loads(run("fit", "t.csv", "-t", "walk", "--weight", "times", "-m", "tan", "--json").stdout)
    encoder = tanbark.Encoder(coerce=tanbark.load("t.tanbark").schema_.recipe)
    X, y = table.drop_columns(["walk"]), table.column("walk").to_pylist()
    found = cross_validate(tanbark.TAN(encoder=encoder), X, y, folds=5, sample_weight=[i % 4 for i in range(40)])
    assert told["cross_validation"]["log_loss"]["mean"] == pytest.approx(found.mean("log_loss"), rel=1e-12)


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (("--class-weight", "balanced"), {"class_weight": "balanced"}),
        (("--set", "class_weight=balanced"), {"class_weight": "balanced"}),
        (("--class-weight", "yes=3", "--class-weight", "no=2"), {"class_weight": {"yes": 3.0, "no": 2.0}}),
        (("--set", 'class_weight={"yes": 3}'), {"class_weight": {"yes": 3}}),
        (("--set", "class_prior=uniform"), {"class_prior": "uniform"}),
        (("--set", 'class_prior={"yes": 0.25, "no": 0.75}'), {"class_prior": {"yes": 0.25, "no": 0.75}}),
    ],
)
def test_weights_and_prior_probabilities_of_classes_are_those_of_python(write, run, table, tmp_path, options, settings):
    write(table, tmp_path / "t.csv")
    said = run("fit", "t.csv", "--target", "walk", *options).stdout
    model, peer = tanbark.load("t.tanbark"), expected(table, "walk", **settings)
    X = table.drop_columns(["walk"])
    np.testing.assert_array_equal(model.predict_proba(X), peer.predict_proba(X))
    assert {name: getattr(model, name) for name in settings} == settings
    # What is common among the rows is not changed by the weights of classes.
    yes = table.column("walk").to_pylist().count("yes") / 40
    assert f"no {1 - yes:.1%}, yes {yes:.1%}" in said
    assert f"baseline {max(yes, 1 - yes):.1%} (always predicting {'yes' if yes > 0.5 else 'no'!r})" in said


def test_labels_that_are_numbers_are_found_by_their_text(write, run, table, tmp_path):
    walk = pa.array([int(label == "yes") for label in table.column("walk").to_pylist()])
    write(table.set_column(3, "walk", walk), tmp_path / "t.csv")
    run("fit", "t.csv", "--target", "walk", "--class-weight", "1=3", "--set", 'class_prior={"0": 0.5, "1": 0.5}')
    model = tanbark.load("t.tanbark")
    assert (model.class_weight, model.class_prior) == ({1: 3.0}, {0: 0.5, 1: 0.5})


def test_suggested_commands_repeat_weights(write, run, table, tmp_path):
    write(weighted(table), tmp_path / "t.csv")
    said = run("fit", "t.csv", "--target", "walk", "--weight", "times", "--class-weight", "yes=3").stdout
    assert "tanbark fit t.csv --target walk --weight times --class-weight yes=3 --best -o best.tanbark" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--weight", "time"), "--weight names the column 'time', which is not in t.csv"),
        (("--weight", "walk"), "'walk' is the class and cannot have the option --weight"),
        (("--weight", "times", "--keep", "times"), "--weight and --keep both name the column 'times'; use one"),
        (("--weight", "sky"), "column 'sky' holds 'sun' in row 1; --weight needs a number of at least 0 in every row"),
        (("--weight", "degrees"), "column 'degrees' has no value in row 4; --weight needs a number of at least 0"),
        (("--weight", "zero"), "column 'zero' is 0 in every row; --weight needs a positive weight"),
        (
            ("--class-weight", "maybe=3"),
            "class_weight names 'maybe', which is not a class; the classes are 'no', 'yes'",
        ),
        (("--class-weight", "yes=-3"), "class_weight of 'yes' must be a positive number"),
        (("--class-weight", "yes"), "--class-weight must be balanced, or LABEL=WEIGHT (repeatable), got 'yes'"),
        (
            ("--class-weight", "yes=3", "--set", "class_weight=balanced"),
            "--class-weight and --set class_weight both set the weights of classes; use one",
        ),
        (("--set", "class_prior=even"), "class_prior must be 2 probabilities that sum to 1"),
    ],
)
def test_weights_that_make_no_sense_are_refused_and_nothing_is_written(write, run, table, tmp_path, options, words):
    write(weighted(table).append_column("zero", pa.array([0] * 40)), tmp_path / "t.csv")
    assert words in run("fit", "t.csv", "--target", "walk", *options, code=1).stderr
    assert not (tmp_path / "t.tanbark").exists()


def test_weights_do_not_make_a_column_look_like_leakage(run, tmp_path):
    # Every name occurs once: a row that counts five times would be predicted by its own copies.
    lines = [f"{min(i, 60) * 7 % 97},v{i},{'ab'[i * i % 7 % 2]},5" for i in range(120)]
    (tmp_path / "t.csv").write_text("\n".join(["x,name,class,times", *lines]))
    words = ("fit", "t.csv", "--keep", "name", "-m", "naive-bayes")
    for options in ("--weight", "times"), ("--ignore", "times", "--class-weight", "a=5", "--class-weight", "b=5"):
        assert "leakage" not in run(*words, *options).stdout


def test_rounding_errors_of_weights_are_no_missing_values(run, tmp_path):
    lines = [f"{'xyz'[i % 3]},{'ab'[i % 2]},{0.1 + i / 7}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["x,class,w", *lines]))
    assert "missing" not in run("fit", "t.csv", "--weight", "w", "-m", "tan").stdout

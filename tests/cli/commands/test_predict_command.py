from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import tanbark
from tanbark.sources import source


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def model(write, run, table, tmp_path):
    write(table, tmp_path / "train.csv")
    run("fit", "train.csv", "-t", "walk", "-o", "m.tanbark", "--cv", 0)
    return tanbark.load("m.tanbark")


def probabilities(rows, model):
    return np.array([[float(row[f"p({label})"]) for label in model.schema_.classes] for row in rows])


@pytest.mark.parametrize("name", ["new.csv", "new.parquet", "new.arff", "new.jsonl"])
def test_every_format_gives_the_probabilities_of_python(write, run, table, model, tmp_path, name):
    write(table, tmp_path / name)
    result = run("predict", "m.tanbark", name)
    rows = rows_of(result.stdout)
    X = table.drop_columns(["walk"])
    np.testing.assert_array_equal(probabilities(rows, model), model.predict_proba(X))
    assert [row["prediction"] for row in rows] == model.predict(X).tolist()
    assert list(rows[0]) == [*table.column_names, "prediction", "p(no)", "p(yes)"]
    right = np.mean(model.predict(X) == np.array(table.column("walk").to_pylist()))
    accuracy, note = result.stderr.splitlines()
    assert accuracy == f"accuracy {right:.1%} on 40 rows with a known walk"
    assert note.startswith("note: these are the rows that the model learned from")


def test_the_accuracy_of_new_rows_has_no_note(write, run, table, model, tmp_path):
    write(table.slice(3), tmp_path / "new.csv")
    assert run("predict", "m.tanbark", "new.csv").stderr.count("\n") == 1
    found = json.loads(run("predict", "m.tanbark", "new.csv", "-o", "out.csv", "--json").stdout)
    assert (found["training_rows"], found["notes"]) == (False, [])
    run("update", "m.tanbark", "new.csv", "-q")
    write(pa.concat_tables([table, table.slice(3)]), tmp_path / "all.csv")
    assert json.loads(run("predict", "m.tanbark", "all.csv", "-o", "out.csv", "--json").stdout)["training_rows"]


KILLED = """
import os, signal
from tanbark.cli import app
from tanbark.cli.output.prediction_writer import CsvSink

CsvSink.write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
app(["predict", "m.tanbark", "train.csv", "-o", "out.csv"])
"""


@pytest.mark.usefixtures("model")
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_the_temporary_file_of_a_killed_run_is_removed_by_the_next(run, tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".out.csv.*"))) == 1
    run("predict", "m.tanbark", "train.csv", "-o", "out.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.tanbark", "out.csv", "train.csv"]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.jsonl"])
def test_every_output_format_holds_the_same(run, table, model, tmp_path, name):
    run("predict", "m.tanbark", "train.csv", "-o", name)
    if name.endswith(".csv"):
        rows = rows_of((tmp_path / name).read_text())
    elif name.endswith(".jsonl"):
        rows = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
    else:
        rows = pyarrow.parquet.read_table(tmp_path / name).to_pylist()
    np.testing.assert_array_equal(probabilities(rows, model), model.predict_proba(table.drop_columns(["walk"])))
    if not name.endswith(".csv"):
        assert [{k: row[k] for k in table.column_names} for row in rows] == table.to_pylist()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["m.tanbark", "train.csv", name])


def test_columns_are_found_by_name_and_others_kept(write, run, table, model, tmp_path):
    moved = table.select(["degrees", "sky", "wind"]).append_column("note", pa.array(["007"] * 40))
    write(moved, tmp_path / "new.csv")
    rows = rows_of(run("predict", "m.tanbark", "new.csv").stdout)
    np.testing.assert_array_equal(probabilities(rows, model), model.predict_proba(table.drop_columns(["walk"])))
    assert [row["note"] for row in rows] == ["007"] * 40


def test_without_a_class_nothing_is_said_of_accuracy(write, run, table, model, tmp_path):
    write(table.drop_columns(["walk"]), tmp_path / "new.csv")
    assert run("predict", "m.tanbark", "new.csv").stderr == ""


def test_a_class_column_may_have_been_renamed(write, run, table, model, tmp_path):
    write(table.rename_columns(["sky", "wind", "degrees", "truth"]), tmp_path / "new.csv")
    assert "with a known truth" in run("predict", "m.tanbark", "new.csv", "--target", "truth").stderr


def test_rows_without_a_class_do_not_count_towards_accuracy(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("sky,wind,degrees,walk\nsun,1,12,yes\nsun,1,12,?\nsun,1,12,\n")
    assert "on 1 row with" in run("predict", "m.tanbark", "new.csv").stderr


def test_classes_that_the_model_does_not_know_are_noted(write, run, table, model, tmp_path):
    said = ["perhaps", *table.column("walk").to_pylist()[1:]]
    write(table.drop_columns("walk").append_column("walk", [said]), tmp_path / "new.csv")
    told = run("predict", "m.tanbark", "new.csv").stderr
    assert "note: 1 of these rows has a class that the model does not know" in told
    told = run("predict", "m.tanbark", "train.csv", "--target", "sky").stderr
    assert "accuracy 0.0% on 40 rows" in told
    assert "40 of these rows have a class that the model does not know" in told


def test_text_that_looks_like_numbers_is_read_as_the_model_learned_it(run, tmp_path):
    (tmp_path / "t.csv").write_text("code,class\n" + "01,a\n2,b\nx,a\n" * 5)
    run("fit", "t.csv", "--cv", 0)
    (tmp_path / "new.csv").write_text("code\n01\n2\n")
    model = tanbark.load("t.tanbark")
    rows = rows_of(run("predict", "t.tanbark", "new.csv").stdout)
    np.testing.assert_array_equal(probabilities(rows, model), model.predict_proba(pa.table({"code": ["01", "2"]})))
    assert [row["code"] for row in rows] == ["01", "2"]


def test_whole_numbers_written_as_floats_are_the_same_levels(run, table, model, tmp_path):
    (tmp_path / "new.csv").write_text("sky,wind,degrees\nsun,1.0,12\nsun,1.4,12\nsun,1,12\nsun,,12\n")
    p = probabilities(rows_of(run("predict", "m.tanbark", "new.csv").stdout), model)
    np.testing.assert_array_equal(p[0], p[2])
    # 1.4 is no level, so it is left open, as what is missing is.
    np.testing.assert_array_equal(p[1], p[3])
    X = pa.table({"sky": ["sun"], "wind": pa.array([1]), "degrees": [12.0]})
    np.testing.assert_array_equal(p[:1], model.predict_proba(X))


def test_numbers_of_a_parquet_file_are_text_where_the_model_learned_text(write, run, tmp_path):
    (tmp_path / "t.csv").write_text("code,class\n" + "1,a\n2,b\nx,a\n" * 5)
    run("fit", "t.csv", "--cv", 0)
    model = tanbark.load("t.tanbark")
    wanted = model.predict_proba(pa.table({"code": ["1", "2"]}))
    for values in ([1, 2], [1.0, 2.0]):
        write(pa.table({"code": values}), tmp_path / "new.parquet")
        rows = rows_of(run("predict", "t.tanbark", "new.parquet").stdout)
        np.testing.assert_array_equal(probabilities(rows, model), wanted)


def test_whole_numbers_beyond_those_with_a_sign_are_levels_too(run, tmp_path):
    numbers = pa.array([2**64 - 1, 2**64 - 2] * 10, pa.uint64())
    pyarrow.parquet.write_table(pa.table({"x": numbers, "class": ["a", "b"] * 10}), tmp_path / "t.parquet")
    run("fit", "t.parquet", "-t", "class", "-o", "m.tanbark", "--categorical", "x")
    said = run("predict", "m.tanbark", "t.parquet").stdout.splitlines()
    assert [line.split(",")[:3] for line in said[1:3]] == [[str(2**64 - 1), "a", "a"], [str(2**64 - 2), "b", "b"]]


def test_labels_with_commas_quotes_newlines_and_accents_survive(run, tmp_path):
    labels = ["a,b", 'say "so"', "two\nlines", "naïve ☂"]
    names = ["the, x", "class"]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([label, label] for label in labels for _ in range(3))
    run("fit", "t.csv", "--cv", 0)
    run("predict", "t.tanbark", "t.csv", "-o", "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["prediction"] for row in rows] == [label for label in labels for _ in range(3)]
    assert [row["the, x"] for row in rows] == [row["prediction"] for row in rows]
    assert list(rows[0]) == [*names, "prediction", *(f"p({label})" for label in sorted(labels))]
    model = tanbark.load("t.tanbark")
    np.testing.assert_array_equal(
        probabilities(rows, model), model.predict_proba(pa.table({"the, x": [r["the, x"] for r in rows]}))
    )


def test_what_is_missing_is_written_as_it_was_read(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("sky,wind,degrees\n?,NA,\n")
    row = rows_of(run("predict", "m.tanbark", "new.csv").stdout)[0]
    assert (row["sky"], row["wind"], row["degrees"]) == ("?", "NA", "")


def test_names_that_differ_in_case_only_are_different_columns(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,A,class\n" + "x,p,yes\ny,q,no\nx,q,yes\n" * 4)
    run("fit", "t.csv", "--cv", 0)
    model = tanbark.load("t.tanbark")
    assert model.schema_.names == ("a", "A")
    rows = rows_of(run("predict", "t.tanbark", "t.csv").stdout)
    X = pa.table({"a": ["x", "y", "x"] * 4, "A": ["p", "q", "q"] * 4})
    np.testing.assert_array_equal(probabilities(rows, model), model.predict_proba(X))


def test_booleans_and_integers_keep_their_types(write, run, tmp_path):
    table = pa.table({"wet": [True, False, True, False] * 5, "class": [1, 2, 1, 1] * 5})
    write(table, tmp_path / "t.parquet")
    run("fit", "t.parquet", "--cv", 0)
    model = tanbark.load("t.tanbark")
    assert model.classes_.tolist() == [1, 2]
    run("predict", "t.tanbark", "t.parquet", "-o", "out.parquet")
    out = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert out.column("prediction").to_pylist() == model.predict(table.select(["wet"])).tolist()
    (tmp_path / "new.csv").write_text("wet\ntrue\nfalse\n")
    rows = rows_of(run("predict", "t.tanbark", "new.csv").stdout)
    np.testing.assert_array_equal(probabilities(rows, model), model.predict_proba(table.select(["wet"]).slice(0, 2)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sky\nsun\n", "new.csv lacks the columns 'wind', 'degrees', which the model needs"),
        ("sky,wind,Degrees\nsun,1,2\n", "new.csv has no column 'degrees', but 'Degrees'; rename it"),
        ("sky,wind,degrees\nsun,many,2\nsun,few,2\n", "column 'wind': expected numbers, but 2 of 2 values are not"),
        ("sky,wind,degrees,prediction\nsun,1,2,yes\n", "already has a column 'prediction'"),
        ("sky,wind,degrees\n", "has no rows"),
    ],
)
def test_a_table_that_does_not_fit_gets_one_sentence(run, model, tmp_path, text, sentence):
    (tmp_path / "new.csv").write_text(text)
    assert sentence in run("predict", "m.tanbark", "new.csv", "-o", "out.csv", code=1).stderr
    assert not (tmp_path / "out.csv").exists()


def test_an_absent_column_counts_as_missing_unless_all_are_required(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("wind,sky\n1,sun\n")
    (tmp_path / "empty.csv").write_text("sky,wind,degrees\nsun,1,\n")
    found = run("predict", "m.tanbark", "new.csv")
    assert found.stderr == "note: new.csv lacks the column 'degrees', which counts as missing in every row\n"
    (row,), (expected,) = rows_of(found.stdout), rows_of(run("predict", "m.tanbark", "empty.csv").stdout)
    assert {name: expected[name] for name in row if name != "degrees"} == row
    said = run("predict", "m.tanbark", "new.csv", "--strict", code=1).stderr
    assert "new.csv lacks the column 'degrees', which the model needs" in said


def test_values_that_cannot_be_read_count_as_missing(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("sky,wind,degrees\nsun,1, 2 \nsun,1,warm\nsun,1,\n")
    found = run("predict", "m.tanbark", "new.csv")
    assert "column 'degrees': expected numbers, but 1 of 2 values is not ('warm')" in found.stderr
    _, warm, missing = rows_of(found.stdout)
    assert {**warm, "degrees": ""} == missing


def test_a_word_for_missing_can_be_named(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("sky,wind,degrees\nsun,1,none\n")
    rows = rows_of(run("predict", "m.tanbark", "new.csv", "--missing", "none").stdout)
    X = pa.table({"sky": ["sun"], "wind": [1], "degrees": pa.array([None], pa.float64())})
    np.testing.assert_array_equal(probabilities(rows, model), model.predict_proba(X))


def test_a_file_that_is_no_model_gets_one_sentence(run, model, tmp_path):
    assert "train.csv is not a tanbark model" in run("predict", "train.csv", "train.csv", code=1).stderr
    assert "there is no file gone.tanbark" in run("predict", "gone.tanbark", "train.csv", code=1).stderr


def test_an_output_of_another_format_is_refused_before_any_work(run, model):
    assert (
        "must end in .csv, .parquet, .jsonl" in run("predict", "m.tanbark", "train.csv", "-o", "x.xls", code=1).stderr
    )


def test_many_batches_give_the_same_as_one(write, run, table, model, tmp_path, monkeypatch):
    monkeypatch.setattr("tanbark.sources.source.BATCH_VALUES", 1)
    many = pa.concat_tables([table] * 60)
    write(many, tmp_path / "new.csv")
    rows = rows_of(run("predict", "m.tanbark", "new.csv").stdout)
    np.testing.assert_array_equal(probabilities(rows, model), model.predict_proba(many.drop_columns(["walk"])))


def test_rows_that_lack_much_are_noted_where_trees_are_drawn(run, write, tmp_path, monkeypatch):
    rows = [{f"a{u}": (i * (u + 3)) % 7 % 5 for u in range(8)} | {"y": "pn"[i % 2]} for i in range(80)]
    write(pa.Table.from_pylist(rows), tmp_path / "t.csv")
    run("fit", "t.csv", "--target", "y", "--model", "averaged-tan", "--cv", 0)
    holes = [{**row, **{f"a{u}": None for u in range(6)}} for row in rows[:3]]
    monkeypatch.setattr(source, "BATCH_VALUES", 1)
    many = [*holes[:1], *rows * 20, *holes[1:]]
    write(pa.Table.from_pylist(many, schema=pa.Table.from_pylist(rows).schema), tmp_path / "h.csv")
    said = run("predict", "t.tanbark", "h.csv", "-o", "out.csv").stderr
    assert "note: 3 rows have too many missing values for an exact answer; the probabilities are estimates" in said
    assert "estimates" not in run("predict", "t.tanbark", "t.csv", "-o", "out.csv").stderr


@pytest.mark.parametrize("output", ["t.csv", "model.csv"])
def test_neither_the_rows_nor_the_model_are_written_over(run, write, table, tmp_path, output):
    write(table, tmp_path / "t.csv")
    run("fit", "t.csv", "-t", "walk", "--cv", 0, "-o", "model.csv")
    before = (tmp_path / output).read_bytes()
    said = run("predict", "model.csv", "t.csv", "-o", output, code=1).stderr
    assert f"{output} is already an input or output of this command" in said
    assert (tmp_path / output).read_bytes() == before


# Costs


@pytest.mark.parametrize("name", ["new.csv", "new.parquet"])
def test_with_costs_the_prediction_is_the_class_of_least_expected_cost(write, run, table, model, tmp_path, name):
    write(table, tmp_path / name)
    result = run("predict", "m.tanbark", name, "--cost", "no:yes=9", "--cost", "yes:no=2")
    rows = rows_of(result.stdout)
    proba = probabilities(rows, model)
    decided = np.where(proba[:, 0] * 9 <= proba[:, 1] * 2, "yes", "no")
    assert [row["prediction"] for row in rows] == decided.tolist()
    np.testing.assert_allclose(proba, model.predict_proba(table.drop_columns(["walk"])))
    truth = np.array(table.column("walk").to_pylist())

    def mean(predicted):
        return np.mean(np.where(predicted == truth, 0, np.where(truth == "no", 9, 2)))

    plain = np.array(["no", "yes"])[proba.argmax(axis=1)]
    assert (decided != plain).any()
    assert f"accuracy of these decisions {np.mean(decided == truth):.1%} on 40 rows" in result.stderr
    words = f"mean cost {mean(decided):.3f} per row, {mean(plain):.3f} for the most probable class"
    assert f"predictions of least expected cost: {words}" in result.stderr
    told = json.loads(run("predict", "m.tanbark", name, "-o", "o.csv", "--cost", "no:yes=9", "--json").stdout)
    assert told["costs"] == [{"true": "no", "predicted": "yes", "cost": 9.0}]
    assert told["mean_cost"] <= told["mean_cost_of_most_probable"]


def test_without_true_classes_or_costs_no_cost_is_reported(write, run, table, model, tmp_path):
    write(table.drop_columns(["walk"]), tmp_path / "new.csv")
    told = json.loads(run("predict", "m.tanbark", "new.csv", "-o", "o.csv", "--cost", "no:yes=9", "--json").stdout)
    assert (told["mean_cost"], told["mean_cost_of_most_probable"]) == (None, None)
    assert run("predict", "m.tanbark", "new.csv", "-o", "o.csv", "--cost", "no:yes=9").stderr.startswith(
        "predictions of least expected cost\n"
    )
    assert "costs" not in json.loads(run("predict", "m.tanbark", "new.csv", "-o", "o.csv", "--json").stdout)


def test_a_cost_for_an_unknown_class_is_refused_and_nothing_is_written(write, run, table, model, tmp_path):
    write(table, tmp_path / "new.csv")
    result = run("predict", "m.tanbark", "new.csv", "-o", "o.csv", "--cost", "maybe:yes=9", code=1)
    assert result.stderr == "error: --cost names 'maybe', which is not a class; the classes are 'no', 'yes'\n"
    assert not (tmp_path / "o.csv").exists()


def test_costs_of_a_model_with_class_weights_get_a_note(write, run, table, tmp_path):
    write(table, tmp_path / "t.csv")
    run("fit", "t.csv", "-t", "walk", "-m", "tan", "--cv", 0, "--class-weight", "balanced")
    for command in ("predict", "t.tanbark", "t.csv", "-o", "o.csv"), ("evaluate", "t.tanbark", "t.csv"):
        result = run(*command, "--cost", "no:yes=9")
        assert "note: the model was fitted with class weights, which change its probabilities" in result.output

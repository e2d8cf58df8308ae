"""`tanbark update`: counts are added, and the file is the old one or the new one."""

from __future__ import annotations

import itertools
import os
import stat
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from filelock import FileLock
from typer.testing import CliRunner

import tanbark
from tanbark.cli import app


@pytest.fixture
def model(write, run, table, tmp_path):
    """A model of the first 25 rows, under the levels and cut points of all 40."""
    X, y = table.drop_columns(["walk"]), np.array(table.column("walk").to_pylist(), object)
    schema = tanbark.TAN().fit(X, y).schema_
    first = tanbark.TAN(encoder=schema).fit(X.slice(0, 25), y[:25])
    plain = tanbark.TAN().fit_counts(renamed(first.counts_, "walk"))
    tanbark.save(plain, tmp_path / "m.tanbark")
    return tanbark.load(tmp_path / "m.tanbark")


def renamed(counts, class_name):
    schema = counts.schema
    named = tanbark.Schema(schema.columns, schema.classes, class_name)
    return tanbark.Counts(named, counts.class_counts, counts.table)


def counts_of(model, table):
    """Return what pandas counts: rows of each class, values and pairs of values in each class, labels as they are."""
    frame = table.to_pandas()
    for name, column in zip(model.schema_.names, model.schema_.columns):
        if hasattr(column, "cuts"):
            codes = np.searchsorted(column.cuts, frame[name].to_numpy(float))
            frame[name] = np.where(frame[name].isna(), None, codes)
    schema = model.schema_
    total = int(schema.offset[-1])
    pairs = np.zeros((len(schema.classes), total, total), int)
    for row in frame.to_dict("records"):
        at = []
        for u, column in enumerate(schema.columns):
            value = row[column.name]
            if value is not None and value == value:
                code = column.levels.index(value) if hasattr(column, "levels") else int(value)
                at.append(int(schema.offset[u]) + code)
        pairs[np.ix_([schema.classes.index(row["walk"])], at, at)] += 1
    return pairs


def files(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize("name", ["new.csv", "new.parquet", "new.arff", "new.jsonl"])
def test_every_format_is_counted_as_it_would_be_by_hand(write, run, table, model, tmp_path, name):
    write(table.slice(25), tmp_path / name)
    said = run("update", "m.tanbark", name).stdout
    again = tanbark.load("m.tanbark")
    np.testing.assert_array_equal(again.counts_.table, counts_of(again, table))
    assert again.counts_.table.dtype == np.int64
    assert "m.tanbark: 25 rows before, 40 now" in said
    assert again.get_params()["n_jobs"] is None


def test_the_model_is_the_one_of_all_rows(write, run, table, model, tmp_path):
    write(table.slice(25), tmp_path / "new.csv")
    run("update", "m.tanbark", "new.csv")
    X, y = table.drop_columns(["walk"]), np.array(table.column("walk").to_pylist(), object)
    whole = tanbark.TAN(encoder=model.schema_).fit(X, y)
    again = tanbark.load("m.tanbark")
    np.testing.assert_array_equal(again.predict_proba(X), whole.predict_proba(X))
    assert again.network_.edges == whole.network_.edges


def test_it_says_how_well_the_rows_were_foreseen(write, run, table, model, tmp_path):
    new = table.slice(25)
    write(new, tmp_path / "new.csv")
    X, y = new.drop_columns(["walk"]), new.column("walk").to_pylist()
    p = [dict(zip(model.classes_, row))[label] for row, label in zip(model.predict_proba(X), y)]
    right = np.mean(model.predict(X) == np.array(y))
    said = run("update", "m.tanbark", "new.csv").stdout
    expected = f"accuracy {right:.1%}, log loss {-np.mean(np.log(p)):.3f} nats on the 15 new rows before"
    assert expected in said


def test_it_says_which_edges_changed(write, run, table, model, tmp_path):
    write(table.slice(25), tmp_path / "new.csv")
    said = run("update", "m.tanbark", "new.csv").stdout
    old, new = ({frozenset(e) for e in m.network_.edges} for m in (model, tanbark.load("m.tanbark")))
    for word, edges in (("new edges", new - old), ("removed edges", old - new)):
        lines = [line for line in said.splitlines() if line.startswith(word)]
        assert len(lines) == bool(edges)
        assert all(" – ".join(sorted(edge)) in lines[0] for edge in edges)
    assert ("unchanged" in said) == (old == new)


def test_batches_of_a_large_file_add_up(write, run, table, model, tmp_path, monkeypatch):
    monkeypatch.setattr("tanbark.sources.source.BATCH_VALUES", 1)
    many = pa.concat_tables([table.slice(25)] * 200)
    write(many, tmp_path / "new.csv")
    run("update", "m.tanbark", "new.csv")
    again = tanbark.load("m.tanbark")
    np.testing.assert_array_equal(again.counts_.table, counts_of(again, pa.concat_tables([table.slice(0, 25), many])))


def test_a_pattern_of_files_is_one_chunk(write, run, table, model, tmp_path):
    write(table.slice(25, 5), tmp_path / "new1.csv")
    write(table.slice(30), tmp_path / "new2.csv")
    run("update", "m.tanbark", "new*.csv", "--chunk-id", "both")
    again = tanbark.load("m.tanbark")
    np.testing.assert_array_equal(again.counts_.table, counts_of(again, table))
    assert again.chunk_ids_ == ("both",)


def test_a_chunk_is_learned_once(write, run, table, model, tmp_path):
    write(table.slice(25), tmp_path / "new.csv")
    assert "40 now with the chunk 'monday'" in run("update", "m.tanbark", "new.csv", "--chunk-id", "monday").stdout
    content = (tmp_path / "m.tanbark").read_bytes()
    said = run("update", "m.tanbark", "new.csv", "--chunk-id", "monday").stdout
    assert said == "m.tanbark has already learned the chunk 'monday'; nothing was counted\n"
    assert (tmp_path / "m.tanbark").read_bytes() == content
    run("update", "m.tanbark", "new.csv", "--chunk-id", "tuesday")
    run("update", "m.tanbark", "new.csv")
    again = tanbark.load("m.tanbark")
    assert again.chunk_ids_ == ("monday", "tuesday")
    assert again.counts_.class_counts.sum() == 25 + 3 * 15


def test_a_model_that_starts_anew_forgets_its_chunks(write, run, table, model, tmp_path):
    write(table.slice(25), tmp_path / "new.csv")
    run("update", "m.tanbark", "new.csv", "--chunk-id", "monday")
    again = tanbark.load("m.tanbark")
    tanbark.save(again, "copy.tanbark")
    assert tanbark.load("copy.tanbark").chunk_ids_ == ("monday",)
    assert again.fit_counts(model.counts_).chunk_ids_ == ()
    assert model.chunk_ids_ == ()


def test_a_row_counts_half_after_a_half_life_however_rows_are_cut_into_files(
    write, run, table, model, tmp_path, monkeypatch
):
    before = (tmp_path / "m.tanbark").read_bytes()
    # 15 new rows are two half-lives; the last of them counts whole.
    expected = counts_of(model, table.slice(0, 25)) / 4
    for at in range(25, 40):
        expected = expected + counts_of(model, table.slice(at, 1)) * 0.5 ** ((39 - at) / 7.5)
    monkeypatch.setattr("tanbark.sources.source.MAX_BATCH_ROWS", 4)
    for cuts in ([25, 40], [25, 31, 40]):
        (tmp_path / "m.tanbark").write_bytes(before)
        for start, stop in itertools.pairwise(cuts):
            write(table.slice(start, stop - start), tmp_path / "new.csv")
            said = run("update", "m.tanbark", "new.csv", "--half-life", 7.5).stdout
        again = tanbark.load("m.tanbark")
        np.testing.assert_allclose(again.counts_.table, expected, rtol=1e-12)
    assert "which now count as" in said


def test_the_row_of_a_wrong_class_is_counted_over_batches(run, tmp_path, monkeypatch):
    monkeypatch.setattr("tanbark.sources.source.MAX_BATCH_ROWS", 5)
    (tmp_path / "t.csv").write_text("x,class\n" + "".join(f"{v / 7},0\n{v},1\n" for v in range(20)))
    run("fit", "t.csv", "--cv", 0)
    (tmp_path / "new.csv").write_text("x,class\n" + "1,1\n" * 17 + "2,old\n")
    said = run("update", "t.tanbark", "new.csv", code=1).stderr
    assert "column 'class' holds 'old' in row 18, but the model expects numbers" in said


def test_values_that_are_no_numbers_are_counted_over_batches(run, tmp_path, monkeypatch):
    monkeypatch.setattr("tanbark.sources.source.MAX_BATCH_ROWS", 5)
    (tmp_path / "t.csv").write_text("x,class\n" + "".join(f"{v / 7},a\n{v},b\n" for v in range(20)))
    run("fit", "t.csv", "--cv", 0)
    before = (tmp_path / "t.tanbark").read_bytes()
    (tmp_path / "new.csv").write_text("x,class\n" + "1,a\n" * 8 + "old,b\n" * 9)
    said = run("update", "t.tanbark", "new.csv", code=1).stderr
    assert "column 'x': expected numbers, but 9 of 17 values are not ('old')" in said
    assert (tmp_path / "t.tanbark").read_bytes() == before
    (tmp_path / "new.csv").write_text("x,class\n" + "1,a\n" * 9 + "old,b\n" * 9)
    said = run("update", "t.tanbark", "new.csv").stdout
    assert "column 'x': expected numbers, but 9 of 18 values are not ('old') and count as missing" in said


def test_a_model_that_refuses_strange_labels_when_predicting_still_learns_them(run, tmp_path):
    encoder = tanbark.Encoder(unseen="error")
    model = tanbark.NaiveBayes(encoder=encoder).fit(pa.table({"a": ["p", "q"]}), pa.chunked_array([["n", "m"]]))
    tanbark.save(tanbark.NaiveBayes(encoder=encoder).fit_counts(renamed(model.counts_, "y")), tmp_path / "t.tanbark")
    (tmp_path / "new.csv").write_text("a,y\nz,n\n")
    assert "new levels" in run("update", "t.tanbark", "new.csv").stdout


def test_numbers_are_no_truth_values_and_lists_no_values(run, tmp_path):
    pq.write_table(pa.table({"f": [True, False] * 10, "y": [True, False] * 10}), tmp_path / "t.parquet")
    run("fit", "t.parquet", "--target", "y", "--cv", 0)
    before = (tmp_path / "t.tanbark").read_bytes()
    pq.write_table(pa.table({"f": [2, 1, 3], "y": [True, False, True]}), tmp_path / "new.parquet")
    said = run("update", "t.tanbark", "new.parquet", code=1).stderr
    assert "column 'f': expected true or false, but 2 of 3 values are not ('2', '3')" in said
    pq.write_table(pa.table({"f": [True], "y": [2]}), tmp_path / "new.parquet")
    said = run("update", "t.tanbark", "new.parquet", code=1).stderr
    assert "column 'y' holds '2' in row 1, but the model expects true or false" in said
    pq.write_table(pa.table({"f": [[True]], "y": [True]}), tmp_path / "new.parquet")
    said = run("update", "t.tanbark", "new.parquet", code=1).stderr
    assert "column 'f' of new.parquet holds lists or structures" in said
    assert (tmp_path / "t.tanbark").read_bytes() == before
    pq.write_table(pa.table({"f": [1, 0], "y": [1, 0]}), tmp_path / "new.parquet")
    run("update", "t.tanbark", "new.parquet")
    assert tanbark.load("t.tanbark").counts_.class_counts.tolist() == [11, 11]


def test_rows_may_come_from_a_query(run, table, model, tmp_path):
    import duckdb

    new = table.slice(25)
    with duckdb.connect(tmp_path / "walks.duckdb") as connection:
        connection.register("new", new)
        connection.execute("CREATE TABLE walks AS SELECT * FROM new")
    run("update", "m.tanbark", "SELECT * FROM walks", "--database", "walks.duckdb")
    again = tanbark.load("m.tanbark")
    np.testing.assert_array_equal(again.counts_.table, counts_of(again, table))


@pytest.mark.parametrize("content", ["", "sky,wind,degrees,walk\n"])
def test_an_empty_file_changes_nothing(run, model, tmp_path, content):
    (tmp_path / "new.csv").write_text(content)
    before = (tmp_path / "m.tanbark").read_bytes()
    assert run("update", "m.tanbark", "new.csv").stdout == "new.csv has no rows; m.tanbark is unchanged\n"
    assert (tmp_path / "m.tanbark").read_bytes() == before


def test_rows_without_a_class_are_left_out_and_said(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("sky,wind,degrees,walk\nsun,1,12,yes\nsun,1,12,?\nrain,2,,\n")
    assert "note: 2 rows without a value of 'walk' were left out" in run("update", "m.tanbark", "new.csv").stdout
    assert tanbark.load("m.tanbark").counts_.class_counts.sum() == 26
    (tmp_path / "none.csv").write_text("sky,wind,degrees,walk\nsun,1,12,?\n")
    assert "none.csv has no rows with a walk; m.tanbark is unchanged" in run("update", "m.tanbark", "none.csv").stdout


def test_columns_are_found_by_name_and_strange_ones_named(write, run, table, model, tmp_path):
    new = table.slice(25).select(["walk", "degrees", "sky", "wind"]).append_column("note", pa.array(["007"] * 15))
    write(new, tmp_path / "new.csv")
    assert "note: the column 'note' is not in the model and is ignored" in run("update", "m.tanbark", "new.csv").stdout
    again = tanbark.load("m.tanbark")
    np.testing.assert_array_equal(again.counts_.table, counts_of(again, table))


def test_types_are_those_of_the_model_whatever_the_file_suggests(run, tmp_path):
    (tmp_path / "t.csv").write_text("code,class\n" + "01,1\n2,2\nx,1\n" * 5)
    run("fit", "t.csv", "--cv", 0)
    (tmp_path / "new.csv").write_text("code,class\n01,1.0\n2,2\n2,2\n")
    run("update", "t.tanbark", "new.csv")
    again = tanbark.load("t.tanbark")
    assert again.schema_.classes == (1, 2)
    assert again.schema_.columns[0].levels == ("01", "2", "x")
    np.testing.assert_array_equal(again.counts_.values, [[6, 0, 5], [0, 7, 0]])


def test_new_levels_and_classes_are_learned_and_said(write, run, table, model, tmp_path):
    (tmp_path / "new.csv").write_text("sky,wind,degrees,walk\nfog,7,12,maybe\nsun,1,99,maybe\nfog,1,12,yes\n")
    said = run("update", "m.tanbark", "new.csv").stdout
    again = tanbark.load("m.tanbark")
    assert again.schema_.classes == ("maybe", "no", "yes")
    assert again.schema_.columns[0].levels == ("cloud, grey", "fog", "rain", "sun")
    assert again.schema_.columns[1].levels == (0, 1, 2, 3, 7)
    rows = [{"sky": "fog", "wind": 7, "degrees": 12.0, "walk": "maybe"}]
    rows += [{"sky": "sun", "wind": 1, "degrees": 99.0, "walk": "maybe"}]
    rows += [{"sky": "fog", "wind": 1, "degrees": 12.0, "walk": "yes"}]
    everything = pa.concat_tables([table.slice(0, 25), pa.Table.from_pylist(rows, schema=table.schema)])
    np.testing.assert_array_equal(again.counts_.table, counts_of(again, everything))
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert {"new classes maybe", "new levels sky: fog", "new levels wind: 7"} <= set(lines)
    assert "(2 of new classes)" in said
    # A class that the model has never seen has the probability 1 / (1 + rows before).
    X = pa.Table.from_pylist(rows, schema=table.schema).drop_columns(["walk"])
    known = dict(zip(model.classes_, model.predict_proba(X)[2], strict=True))["yes"]
    assert f"log loss {(2 * np.log(26) - np.log(known)) / 3:.3f} nats" in said


def test_levels_that_several_batches_bring_are_all_there(write, run, table, model, tmp_path, monkeypatch):
    monkeypatch.setattr("tanbark.sources.source.BATCH_VALUES", 1)
    lines = [f"sky{i // 700},1,12,yes" for i in range(2800)]
    (tmp_path / "new.csv").write_text("\n".join(["sky,wind,degrees,walk", *lines, ""]))
    run("update", "m.tanbark", "new.csv")
    again = tanbark.load("m.tanbark")
    assert again.schema_.columns[0].levels == ("cloud, grey", "rain", "sky0", "sky1", "sky2", "sky3", "sun")
    assert again.counts_.value(0)[:, 2:6].tolist() == [[0] * 4, [700] * 4]


def test_levels_beyond_the_most_allowed_share_one_and_it_says_so(run, tmp_path):
    (tmp_path / "t.csv").write_text("code,class\n" + "a,p\nb,q\n" * 5)
    run("fit", "t.csv", "--cv", 0, "--max-levels", 3, "--model", "tan")
    (tmp_path / "new.csv").write_text("code,class\n" + "c,p\nd,q\n" * 5)
    assert "note: column 'code' now has 4 levels" in run("update", "t.tanbark", "new.csv").stdout
    again = tanbark.load("t.tanbark")
    np.testing.assert_array_equal(again.counts_.values, [[5, 0, 5], [0, 5, 5]])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sky,wind,degrees\nsun,1,2\n", "new.csv lacks the column 'walk', the class of the model"),
        ("sky,walk\nsun,yes\n", "new.csv lacks the columns 'wind', 'degrees', which the model needs"),
        ("sky,wind,degrees,walk\nsun,1,warm,yes\nsun,1,warm,no\n", "column 'degrees': expected numbers, but"),
    ],
)
def test_a_table_that_does_not_fit_changes_nothing(run, model, tmp_path, text, sentence):
    (tmp_path / "new.csv").write_text(text)
    before = (tmp_path / "m.tanbark").read_bytes()
    assert sentence in run("update", "m.tanbark", "new.csv", "--chunk-id", "a", code=1).stderr
    assert (tmp_path / "m.tanbark").read_bytes() == before


def test_a_file_cut_short_among_many_is_named_and_changes_nothing(write, run, table, model, tmp_path):
    write(table.slice(25, 5), tmp_path / "new1.parquet")
    whole = write(table.slice(30), tmp_path / "new2.parquet").read_bytes()
    (tmp_path / "new2.parquet").write_bytes(whole[:-30])
    before = (tmp_path / "m.tanbark").read_bytes()
    assert "new2.parquet" in run("update", "m.tanbark", "new*.parquet", code=1).stderr
    assert (tmp_path / "m.tanbark").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--half-life", 0], "--half-life must be a number of rows above 0, got 0"),
        (["--half-life", "nan"], "--half-life must be a number of rows above 0, got nan"),
        (["--wait", -1], "--wait must be a number of seconds of at least 0, got -1"),
        (["--chunk-id", " "], "--chunk-id must not be empty"),
    ],
)
def test_options_that_cannot_be_are_refused(write, run, table, model, tmp_path, options, sentence):
    write(table, tmp_path / "new.csv")
    assert sentence in run("update", "m.tanbark", "new.csv", *options, code=1).stderr


@pytest.fixture
def evidence(write, run, table, tmp_path):
    """An additive model of the first 25 rows."""
    write(table.slice(0, 25), tmp_path / "t.csv")
    run("fit", "t.csv", "-t", "walk", "--cv", 0)
    return tanbark.load("t.tanbark")


def test_the_tables_of_an_additive_model_learn_and_all_else_stays(write, run, table, evidence, tmp_path, monkeypatch):
    monkeypatch.setattr("tanbark.sources.source.BATCH_VALUES", 1)
    new = table.slice(25)
    write(new, tmp_path / "new.csv")
    X, y = new.drop_columns(["walk"]), new.column("walk").to_pylist()
    loss = -np.log(evidence.predict_proba(X)[np.arange(15), [evidence.classes_.tolist().index(v) for v in y]]).mean()
    said = run("update", "t.tanbark", "new.csv", "--chunk-id", "a").stdout
    again = tanbark.load("t.tanbark")
    assert "t.tanbark: 25 rows before, 40 now with the chunk 'a'" in said
    assert f"log loss {loss:.3f} nats on the 15 new rows before they were learned" in said
    assert "note: the rows were added to the tables of the model; its levels, intervals, edges and weights" in said
    np.testing.assert_array_equal(again.weights_, evidence.weights_)
    assert (again.schema_, again.edges_) == (evidence.schema_, evidence.edges_)
    np.testing.assert_array_equal(again.predict_proba(X), evidence.update(X, y).predict_proba(X))
    assert "already learned the chunk 'a'" in run("update", "t.tanbark", "new.csv", "--chunk-id", "a").stdout


def test_new_levels_of_an_additive_model_are_missing_and_new_classes_refused(run, evidence, tmp_path):
    before = (tmp_path / "t.tanbark").read_bytes()
    (tmp_path / "new.csv").write_text("sky,wind,degrees,walk\nsun,1,12,yes\nsun,1,12,perhaps\n")
    said = run("update", "t.tanbark", "new.csv", code=1).stderr
    assert said == "error: an update cannot add the new class 'perhaps' to EvidenceBN; fit again with all rows\n"
    assert (tmp_path / "t.tanbark").read_bytes() == before
    (tmp_path / "new.csv").write_text("sky,wind,degrees,walk\nsnow,1,12,yes\n")
    run("update", "t.tanbark", "new.csv")
    again = tanbark.load("t.tanbark")
    assert again.schema_ == evidence.schema_
    assert again.counts_.class_counts.sum() == 26
    np.testing.assert_array_equal(again.counts_.value(0), evidence.counts_.value(0))


def test_an_additive_model_does_not_forget_and_names_a_model_that_does(run, evidence):
    said = run("update", "t.tanbark", "t.csv", "--half-life", 10, code=1).stderr
    assert said == (
        "error: t.tanbark cannot be updated: EvidenceBN does not forget rows; leave out --half-life, or use another "
        "classifier, for example --model tan\n"
    )


def test_a_model_that_needs_rows_says_why(write, run, table, tmp_path):
    write(table, tmp_path / "train.csv")
    run("fit", "train.csv", "-t", "walk", "-m", "k2", "--cv", 0)
    said = run("update", "train.tanbark", "train.csv", code=1).stderr
    assert "train.tanbark cannot be updated: K2 counts families of several attributes from the rows" in said


def test_a_file_that_is_no_model_is_refused_without_litter(write, run, table, tmp_path):
    write(table, tmp_path / "new.csv")
    assert "there is no file gone.tanbark" in run("update", "gone.tanbark", "new.csv", code=1).stderr
    assert "is a folder" in run("update", tmp_path, "new.csv", code=1).stderr
    assert files(tmp_path) == ["new.csv"]
    assert "new.csv is not a tanbark model" in run("update", "new.csv", "new.csv", code=1).stderr


def test_a_link_stays_a_link_and_shares_the_lock_of_its_model(write, run, table, model, tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to("far/m.tanbark")
    os.replace("m.tanbark", "far/m.tanbark")
    (tmp_path / "far" / "m.tanbark").chmod(0o600)
    write(table.slice(25), tmp_path / "new.csv")
    run("update", "link", "new.csv")
    assert (tmp_path / "link").is_symlink()
    assert tanbark.load("far/m.tanbark").counts_.class_counts.sum() == 40
    assert stat.S_IMODE((tmp_path / "far" / "m.tanbark").stat().st_mode) == 0o600
    assert files(tmp_path / "far") == [".m.tanbark.lock", "m.tanbark"]
    assert files(tmp_path) == ["far", "link", "new.csv"]


def test_what_a_killed_update_left_is_swept_and_nothing_else(write, run, table, model, tmp_path):
    write(table.slice(25), tmp_path / "new.csv")
    for name in (".m.tanbark.abcdefgh.update", ".m.tanbark.abcdefgh", ".other.tanbark.abcdefgh.update"):
        (tmp_path / name).write_bytes(b"half")
    run("update", "m.tanbark", "new.csv")
    assert files(tmp_path) == [
        ".m.tanbark.abcdefgh",
        ".m.tanbark.lock",
        ".other.tanbark.abcdefgh.update",
        "m.tanbark",
        "new.csv",
    ]


@pytest.mark.parametrize("wait", [0, 1.2])
def test_where_another_update_runs_for_too_long_it_says_so(write, run, table, model, tmp_path, wait):
    write(table, tmp_path / "new.csv")
    with FileLock(tmp_path / ".m.tanbark.lock"):
        result = CliRunner().invoke(app, ["update", "m.tanbark", "new.csv", "--wait", str(wait)])
    assert result.exit_code == 1
    *notes, error = result.stderr.splitlines()
    assert error.startswith("error: another update of ")
    assert f"was still running after {wait} s" in error
    assert error.endswith("so the model was not changed; try again or wait longer with --wait")
    assert notes == (["note: another update of m.tanbark is running; waiting up to 1.2 s for it"] if wait > 1 else [])
    assert tanbark.load("m.tanbark").counts_.class_counts.sum() == 25


def test_a_new_fit_of_a_model_waits_for_its_update(write, run, table, model, tmp_path, monkeypatch):
    write(table, tmp_path / "new.csv")
    before = (tmp_path / "m.tanbark").read_bytes()
    monkeypatch.setattr(sys.modules["tanbark.cli.commands.fit_command"], "LOCK_SECONDS", 0.1)
    words = ["fit", "new.csv", "--target", "walk", "--cv", 0, "-o", "m.tanbark"]
    with FileLock(tmp_path / ".m.tanbark.lock"):
        error = run(*words, code=1).stderr
    assert "another update of" in error
    assert error.endswith("so the model was not changed; try again later\n")
    assert (tmp_path / "m.tanbark").read_bytes() == before
    run(*words)
    assert tanbark.load("m.tanbark").counts_.class_counts.sum() == 40


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("sky", [1.5, 2.0], "column 'sky': expected text, but 2 of 2 values are not ('1.5', '2')"),
        ("sky", [7, 8], "column 'sky': expected text, but 2 of 2 values are not ('7', '8')"),
        ("sky", np.array(["2020-01-01", "2020-01-02"], "datetime64[s]"), "column 'sky' holds dates"),
        ("walk", [1, 0], "column 'walk' holds '1' in row 1, but the model expects text"),
    ],
)
def test_numbers_and_dates_of_a_typed_file_are_no_new_labels(run, table, model, tmp_path, column, values, said):
    two = table.slice(0, 2)
    pq.write_table(two.set_column(two.column_names.index(column), column, pa.array(values)), tmp_path / "new.parquet")
    before = (tmp_path / "m.tanbark").read_bytes()
    assert said in run("update", "m.tanbark", "new.parquet", code=1).stderr
    assert (tmp_path / "m.tanbark").read_bytes() == before


def test_numbers_of_a_typed_file_may_be_labels_that_the_model_knows_as_text(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "1,p\n2,q\nx,p\n" * 10)
    run("fit", "t.csv", "--target", "y", "-o", "m.tanbark")
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": ["p", "p"]}), tmp_path / "new.parquet")
    run("update", "m.tanbark", "new.parquet")
    assert tanbark.load(tmp_path / "m.tanbark").counts_.value(0).sum(axis=0).tolist() == [11, 11, 10]


def test_a_parquet_file_of_no_bytes_is_broken(run, model, tmp_path):
    (tmp_path / "new.parquet").write_bytes(b"")
    said = run("update", "m.tanbark", "new.parquet", "--chunk-id", "a", code=1).stderr
    assert said == "error: new.parquet is not a valid Parquet file: Parquet file size is 0 bytes\n"


def test_weights_count_rows_so_often(write, run, table, model, tmp_path):
    new, times = table.slice(25), [i % 3 for i in range(15)]
    write(new.append_column("times", [times]), tmp_path / "new.csv")
    write(new.take(np.repeat(np.arange(15), times)), tmp_path / "repeated.csv")
    tanbark.save(model, tmp_path / "other.tanbark")
    told = run("update", "m.tanbark", "new.csv", "--weight", "times").stdout
    peer = run("update", "other.tanbark", "repeated.csv").stdout
    one, other = tanbark.load(tmp_path / "m.tanbark"), tanbark.load(tmp_path / "other.tanbark")
    assert one.counts_ == other.counts_
    assert "ignored" not in told
    assert told.splitlines()[1].split(" on the ")[0] == peer.splitlines()[1].split(" on the ")[0]
    assert "on the 10 new rows" in told


def test_weights_that_make_no_sense_are_refused_and_change_nothing(write, run, table, model, tmp_path):
    before = (tmp_path / "m.tanbark").read_bytes()
    new = table.slice(25)
    write(new.append_column("times", [[1] * 14 + [-1]]).append_column("none", [[0] * 15]), tmp_path / "new.csv")
    refused = run("update", "m.tanbark", "new.csv", "--weight", "times", code=1).stderr
    assert "column 'times' holds '-1' in row 15; --weight needs a number of at least 0 in every row" in refused
    assert "has no column 'time'" in run("update", "m.tanbark", "new.csv", "--weight", "time", code=1).stderr
    assert "new.csv has no rows of positive none" in run("update", "m.tanbark", "new.csv", "--weight", "none").stdout
    assert (tmp_path / "m.tanbark").read_bytes() == before


def test_learning_the_training_rows_again_is_reported(write, run, table, tmp_path):
    write(table, tmp_path / "t.csv")
    run("fit", "t.csv", "-t", "walk", "-m", "tan", "--cv", "0", "-o", "m.tanbark")
    assert "had learned from, which now count twice" in run("update", "m.tanbark", "t.csv").stdout
    assert "count twice" not in run("update", "m.tanbark", "t.csv").stdout


def test_amounts_of_a_model_with_weights_are_weights(write, run, table, tmp_path):
    write(table, tmp_path / "t.csv")
    run("fit", "t.csv", "-t", "walk", "-m", "tan", "--class-weight", "yes=3", "--cv", "0", "-o", "m.tanbark")
    total = sum(3 if label == "yes" else 1 for label in table.column("walk").to_pylist())
    assert f"rows with a total weight of {total}" in run("show", "m.tanbark").stdout
    assert f"a total weight of {total} before, {2 * total} now" in run("update", "m.tanbark", "t.csv").stdout

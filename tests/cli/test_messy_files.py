"""Commands on the messy tables of tests/messy, and the options that say how to read them."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tanbark

MESSY = Path(__file__).parent.parent / "messy"
TARGETS = {
    "missing_markers": "left",
    "money": "kind",
    "decimal_comma": "klasse",
    "dates": "class",
    "laboratory": "result",
    "identifiers": "class",
}


@pytest.mark.parametrize(("name", "target"), TARGETS.items())
def test_a_model_reads_each_file_as_its_training_file(run, tmp_path, name, target):
    path = MESSY / f"{name}.csv"
    run("fit", path, "-t", target, "--cv", 0, "-o", "m.tanbark")
    model = tanbark.load("m.tanbark")
    run("predict", "m.tanbark", path, "-o", "out.csv")
    predicted = pd.read_csv("out.csv")
    assert predicted.prediction.isin(model.classes_).all()
    # The first half, in which formats may not be recognisable, and with the columns in another order.
    encoding, separator = ("cp1252", ";") if name == "decimal_comma" else ("utf-8", ",")
    table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding=encoding, sep=separator)
    table.iloc[:5, ::-1].to_csv("part.csv", index=False)
    run("predict", "m.tanbark", "part.csv", "-o", "part-out.csv")
    columns = [f"p({label})" for label in model.classes_]
    np.testing.assert_allclose(pd.read_csv("part-out.csv")[columns], predicted[columns][:5])
    evaluated = json.loads(run("evaluate", "m.tanbark", path, "--json").stdout)
    assert evaluated["rows"] == 120
    assert evaluated["accuracy"]["mean"] == np.mean(predicted.prediction == table[target])
    run("update", "m.tanbark", "part.csv")
    assert tanbark.load("m.tanbark").counts_.class_counts.sum() == 125
    run("report", "m.tanbark", path)
    run("show", "m.tanbark")
    frame = table.drop(columns=target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        probabilities = model.predict_proba(frame)
    np.testing.assert_allclose(probabilities[:5], predicted[columns][:5], rtol=1e-12)


def test_the_summary_of_a_fit_lists_dates_and_columns_that_are_left_out(run):
    shown = run("fit", MESSY / "identifiers.csv", "-t", "class", "--cv", 0).stdout
    assert ["left", "out", "id,", "note"] in map(str.split, shown.splitlines())
    assert "note: column 'flag' alone predicts the class in 100.0% of the rows: check that it is known before" in shown
    shown = run("fit", MESSY / "dates.csv", "-t", "class", "--cv", 0).stdout
    assert any(line.startswith("dates") and "signed up" in line for line in shown.splitlines())


def test_a_date_outside_the_training_range_is_noted(run, tmp_path):
    run("fit", MESSY / "dates.csv", "-t", "class", "--cv", 0, "-o", "m.tanbark")
    table = pd.read_csv(MESSY / "dates.csv", dtype=str)
    table.loc[:2, "signed up"] = "2031-05-06"
    table.to_csv("new.csv", index=False)
    said = run("predict", "m.tanbark", "new.csv", "-o", "out.csv").stderr
    assert (
        "note: column 'signed up': 3 of 120 dates lie outside the range seen in training (2023-01-05 to 2023-12-28)\n"
    ) in said


def test_a_column_of_numbers_that_is_full_of_words_is_refused(run, tmp_path):
    run("fit", MESSY / "laboratory.csv", "-t", "result", "--cv", 0, "-o", "m.tanbark")
    before = Path("m.tanbark").read_bytes()
    table = pd.read_csv(MESSY / "laboratory.csv", dtype=str)
    table["crp"] = ["high"] * 70 + ["1.5"] * 50
    table.to_csv("new.csv", index=False)
    for command in (["predict", "-o", "out.csv"], ["update"], ["evaluate"]):
        said = run(command[0], "m.tanbark", "new.csv", *command[1:], code=1).stderr
        assert "column 'crp': expected numbers, but 70 of 120 values are not ('high')" in said
    assert not Path("out.csv").exists()
    assert Path("m.tanbark").read_bytes() == before


def test_groups_stay_together_in_cross_validation(run, tmp_path):
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 5)
    # The class belongs to the patient, and so does the weight, which identifies the patient.
    pd.DataFrame(
        {
            "patient": [f"p{i}" for i in patient],
            "weight": rng.normal(70, 10, 40).round(3)[patient],
            "noise": rng.normal(size=200).round(3),
            "ill": rng.integers(0, 2, 40)[patient],
        }
    ).to_csv("t.csv", index=False)
    words = ["t.csv", "-t", "ill", "--json"]
    alone = json.loads(run("fit", *words, "--ignore", "patient", "--cv", 5).stdout)
    grouped = json.loads(run("fit", *words, "--group", "patient", "--cv", 5).stdout)
    assert [column["name"] for column in grouped["columns"]] == ["weight", "noise"]
    assert alone["columns"] == grouped["columns"]
    assert alone["cross_validation"]["error"]["mean"] < 0.2
    assert grouped["cross_validation"]["error"]["mean"] > 0.35
    compared = json.loads(run("compare", *words, "--group", "patient", "--models", "cart", "--folds", 5).stdout)
    assert compared["ranking"][0]["error"]["mean"] > 0.3
    run("predict", "t.tanbark", "t.csv", "-o", "out.csv")


def test_each_file_has_its_own_encoding(run, tmp_path):
    text = "Größe,class\nklein,a\nfüllig,b\n" * 1 + "klein,a\nfüllig,b\n" * 20
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252", "cp850"):
        Path("t.csv").write_bytes(text.encode(encoding))
        options = ["--encoding", "cp850"] if encoding == "cp850" else []
        said = run("fit", "t.csv", *options, "--cv", 0).stdout
        assert ("is not UTF-8 text: read as Windows-1252; use --encoding for another one" in said) == (
            encoding == "cp1252"
        )
        (column,) = tanbark.load("t.tanbark").schema_.columns
        assert (column.name, column.levels) == ("Größe", ("füllig", "klein"))
        assert "accuracy 100.0%" in run("predict", "t.tanbark", "t.csv", *options, "-o", "out.csv").stderr


def test_a_sheet_can_be_chosen(run, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["nothing", "class"])
    for kind, sheet in (("x", book.active), ("z", book.create_sheet("Second"))):
        if kind == "z":
            sheet.append(["size", "class"])
        for i in range(20):
            sheet.append([f"{kind}{i % 2}", "ab"[i % 2]])
    book.save("t.xlsx")
    assert "read sheet 'Sheet', not 'Second'; use --sheet for another one" in run("fit", "t.xlsx", "--cv", 0).stdout
    for sheet in ("Second", "2"):
        run("fit", "t.xlsx", "--sheet", sheet, "--cv", 0)
        assert tanbark.load("t.tanbark").schema_.names == ("size",)
        assert "accuracy 100.0%" in run("predict", "t.tanbark", "t.xlsx", "--sheet", sheet, "-o", "out.csv").stderr


def test_a_number_can_stand_for_missing_values(run, tmp_path):
    values = np.where(np.arange(60) % 6 == 0, -999, np.arange(60) % 7)
    frame = pd.DataFrame({"x": values, "z": values + np.arange(60) % 3 / 4, "class": ["a", "b"] * 30})
    frame.loc[values == -999, "z"] = -999
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet", index=False)
    for file in ("t.csv", "t.parquet"):
        run("fit", file, "--missing", "-999", "--cv", 0, "-o", f"{file}.tanbark")
        assert tanbark.load(f"{file}.tanbark").schema_.columns[0].levels == tuple(range(7))
        assert tanbark.load(f"{file}.tanbark").schema_.columns[1].low == 0
    for file in ("t.csv", "t.parquet"):
        run("predict", "t.csv.tanbark", file, "-o", f"{file}-out.csv")
    found = [pd.read_csv(f"{file}-out.csv")["p(a)"] for file in ("t.csv", "t.parquet")]
    np.testing.assert_array_equal(*found)

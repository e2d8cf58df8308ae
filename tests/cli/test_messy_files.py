"""Commands on the messy tables of tests/messy, and the options that say how to read them."""

import json
import warnings
from decimal import Decimal
from pathlib import Path

import duckdb
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
    assert "note: column 'flag' alone predicts the class in 100.0% of the rows; check for leakage: unless" in shown
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


def test_markers_named_for_a_model_are_those_of_a_fit(run, tmp_path):
    values = np.where(np.arange(60) % 6 == 0, -999.0, np.arange(60) % 7 / 4)
    known = pd.DataFrame({"x": values, "word": ["red", "blue", "n.k."] * 20, "class": ["a", "b"] * 30})
    known[known.x != -999].to_csv("train.csv", index=False)
    run("fit", "train.csv", "-t", "class", "--ignore", "word", "--cv", 0, "-o", "m.tanbark")
    run("fit", "train.csv", "-t", "class", "--missing", "n.k.", "--cv", 0, "-o", "w.tanbark")
    known.replace(-999, np.nan).to_csv("empty.csv", index=False)
    known.to_csv("marked.csv", index=False)
    known.to_parquet("marked.parquet", index=False)
    run("predict", "m.tanbark", "empty.csv", "-o", "expected.csv")
    expected = pd.read_csv("expected.csv")[["p(a)", "p(b)"]]
    for file in ("marked.csv", "marked.parquet"):
        run("predict", "m.tanbark", file, "--missing", "-999", "-o", "out.csv")
        np.testing.assert_array_equal(pd.read_csv("out.csv")[["p(a)", "p(b)"]], expected)
    unknown = known.assign(word="unknown")
    unknown.to_csv("upper.csv", index=False)
    unknown.assign(word="").to_csv("empty.csv", index=False)
    results = []
    for file, marker in (("upper.csv", "UNKNOWN"), ("empty.csv", "UNKNOWN")):
        run("predict", "w.tanbark", file, "--missing", marker, "--missing", "-999", "-o", "out.csv")
        results.append(pd.read_csv("out.csv")[["p(a)", "p(b)"]])
    np.testing.assert_array_equal(*results)


def test_the_markers_of_a_schema_file_hold_for_fit_and_predict_alike(run, tmp_path):
    pd.DataFrame({"x": ["?", "NA", "", "red"] * 20, "class": ["a", "b", "b", "a"] * 20}).to_csv("t.csv", index=False)
    Path("s.json").write_text(json.dumps({"target": "class", "missing": [""]}))
    run("fit", "t.csv", "--schema", "s.json", "--model", "naive-bayes", "--cv", 0)
    model = tanbark.load("t.tanbark")
    assert model.schema_.columns[0].levels == ("?", "NA", "red")
    run("predict", "t.tanbark", "t.csv", "-o", "out.csv")
    frame = pd.DataFrame({"x": ["?", "NA", None, "red"]})
    np.testing.assert_allclose(pd.read_csv("out.csv")[["p(a)", "p(b)"]][:4], model.predict_proba(frame))


def test_categories_of_a_schema_file_stay_text(run, tmp_path):
    pd.DataFrame({"x": ["1.1", "1.10", "1e2", "100"] * 20, "class": ["a", "b"] * 40}).to_csv("t.csv", index=False)
    run("schema", "t.csv", "--categorical", "x", "-t", "class", "-o", "s.json")
    run("fit", "t.csv", "--schema", "s.json", "--cv", 0, "-o", "a.tanbark")
    run("fit", "t.csv", "--categorical", "x", "-t", "class", "--cv", 0, "-o", "b.tanbark")
    schemas = [tanbark.load(f"{name}.tanbark").schema_ for name in "ab"]
    assert schemas[0] == schemas[1]
    assert schemas[0].columns[0].levels == ("1.1", "1.10", "100", "1e2")


@pytest.mark.parametrize("command", ["fit", "schema"])
def test_suggested_commands_read_the_table_in_the_same_way(run, tmp_path, command):
    rows = pd.DataFrame({"seen": ["01/02/2024", "03/04/2024"] * 30, "x": range(60), "class": ["a", "b"] * 30})
    rows.to_csv("t.csv", index=False)
    said = run(command, "t.csv", "--day-first", "--dates", "number", "--keep", "x", "-t", "class").stdout
    (again,) = [line for line in said.splitlines() if line.startswith(f"  tanbark {command} ")]
    assert "--day-first --dates number" in " ".join(sorted(again.split("  ")))
    words = again.split()[1:]
    run(*words)
    file = "best.tanbark" if command == "fit" else "schema.json"
    assert Path(file).exists()


def test_a_group_whose_values_cannot_be_read_does_not_stop_cross_validation(run, tmp_path):
    clinic = np.repeat(np.arange(20), 10)
    crp = np.where(clinic == 3, "n.k.", (np.arange(200) % 17 / 4).astype(str))
    pd.DataFrame({"clinic": clinic, "crp": crp, "class": ["a", "b"] * 100}).to_csv("t.csv", index=False)
    said = run("fit", "t.csv", "-t", "class", "--group", "clinic", "--cv", 20).stdout
    assert "column 'crp': read as numbers; 10 of 200 values were not ('n.k.') and count as missing" in said
    assert "in 20-fold cross-validation" in said


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_durations_are_days_in_every_command(run, tmp_path, kind, unit):
    hours = np.random.default_rng(0).integers(-30, 90, 200)
    frame = pd.DataFrame(
        {"stay": pd.to_timedelta(hours, unit="h").as_unit(unit), "class": np.where(hours > 30, "a", "b")}
    )
    getattr(frame, f"to_{kind}")(f"t.{kind}")
    run("fit", f"t.{kind}", "-t", "class", "-m", "naive-bayes", "--cv", 0)
    model = tanbark.load("t.tanbark")
    assert (model.schema_.columns[0].low, model.schema_.columns[0].high) == (hours.min() / 24, hours.max() / 24)
    run("predict", "t.tanbark", f"t.{kind}", "-o", "out.csv")
    expected = model.predict_proba(frame[["stay"]])
    np.testing.assert_allclose(pd.read_csv("out.csv")[["p(a)", "p(b)"]], expected, rtol=1e-12)
    before = model.counts_.table
    run("update", "t.tanbark", f"t.{kind}")
    assert (tanbark.load("t.tanbark").counts_.table == 2 * before).all()


def test_labels_that_training_did_not_have_are_noted(run, tmp_path):
    rows = pd.DataFrame({"flag": ["TRUE", "FALSE"] * 40, "k": ["x", "y", "z", "x"] * 20, "class": ["a", "b"] * 40})
    rows.to_csv("t.csv", index=False)
    run("fit", "t.csv", "--cv", 0)
    rows.assign(flag=rows.flag.str.lower()).to_csv("new.csv", index=False)
    note = "note: column 'flag': 80 of 80 values were not seen in training ('false', 'true')\n"
    assert note in run("predict", "t.tanbark", "new.csv", "-o", "out.csv").stderr
    assert note in run("evaluate", "t.tanbark", "new.csv").stdout
    assert "not seen" not in run("predict", "t.tanbark", "t.csv", "-o", "out.csv").stderr


def test_nothing_is_printed_if_most_values_cannot_be_read(run, tmp_path):
    rows = pd.DataFrame({"x": np.arange(80) / 4, "class": ["a", "b"] * 40})
    rows.to_csv("t.csv", index=False)
    run("fit", "t.csv", "--cv", 0)
    rows.assign(x="high").to_csv("new.csv", index=False)
    found = run("predict", "t.tanbark", "new.csv", code=1)
    assert found.stdout == ""
    assert "column 'x': expected numbers, but 80 of 80 values are not ('high')" in found.stderr


@pytest.mark.parametrize("where", ["first", "last"])
def test_the_order_of_rows_does_not_matter_for_values_that_cannot_be_read(run, tmp_path, monkeypatch, where):
    monkeypatch.setattr("tanbark.sources.source.BATCH_VALUES", 1)
    rows = pd.DataFrame({"x": (np.arange(3000) % 40 / 4).astype(str), "class": ["a", "b"] * 1500})
    rows[rows.index % 50 != 0].to_csv("t.csv", index=False)
    run("fit", "t.csv", "--cv", 0)
    rows.loc[rows.index[:1400] if where == "first" else rows.index[-1400:], "x"] = "soon"
    rows.to_csv("new.csv", index=False)
    note = "column 'x': expected numbers, but 1,400 of 3,000 values are not ('soon') and count as missing"
    assert note in run("predict", "t.tanbark", "new.csv", "-o", "out.csv").stderr


def test_an_infinite_number_in_a_csv_file_counts_as_missing(run, tmp_path):
    values = ["inf" if i == 7 else "1e400" if i == 9 else i / 2 for i in range(60)]
    pd.DataFrame({"x": values, "class": ["a", "b"] * 30}).to_csv("t.csv", index=False)
    note = "column 'x': read as numbers; 2 of 60 values were not ('1e400', 'inf') and count as missing"
    assert note in run("fit", "t.csv", "--cv", 0).stdout
    assert note in run("schema", "t.csv").stdout
    with pytest.warns(UserWarning, match="2 of 60 values were not"):
        counts = tanbark.Counts.from_batches(tanbark.sources.files("t.csv"), "class")
    assert counts.schema.columns[0].high == 29.5
    codes = pd.DataFrame({"code": ["77E710", "85E843", "85E843"] * 20, "class": ["a", "b"] * 30})
    codes.to_csv("t.csv", index=False)
    run("fit", "t.csv", "--cv", 0)
    assert tanbark.load("t.tanbark").schema_.columns[0].levels == ("77E710", "85E843")


def test_a_decimal_comma_that_is_asked_for_holds_for_all_columns(run, tmp_path):
    rows = [f"1.{i},{'ab'[i % 2]}" for i in range(100, 180)]
    Path("t.csv").write_text("\n".join(["x,class", *rows]))
    run("fit", "t.csv", "--decimal", ",", "--cv", 0)
    (column,) = tanbark.load("t.tanbark").schema_.columns
    assert (column.low, column.high) == (1100, 1179)
    encoder = tanbark.Encoder(coerce=tanbark.Recipe(decimal=","))
    assert (
        tanbark.Counts.from_batches(tanbark.sources.files("t.csv"), "class", encoder=encoder).schema.columns[0].low
        == 1100
    )


def test_a_decimal_comma_does_not_change_the_class(run, tmp_path):
    rows = [f"3,{i};{i % 2}.0" for i in range(10, 70)]
    Path("t.csv").write_text("\n".join(["x;class", *rows]))
    run("fit", "t.csv", "--decimal", ",", "--cv", 0)
    assert tanbark.load("t.tanbark").classes_.tolist() == [0, 1]
    source = tanbark.sources.files("t.csv")
    encoder = tanbark.Encoder(coerce=tanbark.Recipe(decimal=","))
    before = source.schema
    counts = tanbark.Counts.from_batches(source, "class", encoder=encoder)
    assert (counts.schema.classes, counts.schema.columns[0].high) == ((0, 1), 3.69)
    assert source.schema == before


def test_numbers_with_a_point_stay_text_with_a_reason_if_the_decimal_separator_is_a_comma(run, tmp_path):
    Path("t.csv").write_text("\n".join(["x;class", *[f"{1 + i % 3}.25;{'ab'[i % 2]}" for i in range(60)]]))
    said = run("schema", "t.csv", "--decimal", ",").stdout
    assert "column 'x' stays text because of another decimal separator than ',', as in '1.25'" in said


@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx", "json", "duckdb"])
def test_markers_hold_for_dates_decimals_and_codes_in_every_format(run, tmp_path, kind):
    i = np.arange(120)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(i % 90, unit="D")
    frame = pd.DataFrame({"day": day, "size": (i % 36) / 4, "code": i % 3, "class": np.where(i % 7 < 3, "a", "b")})
    marked = frame.copy()
    marked.loc[i % 5 == 0, "day"] = pd.Timestamp("1900-01-01")
    marked.loc[i % 6 == 0, "size"] = -999.0
    marked.loc[i % 4 == 0, "code"] = 9

    def write(table, name):
        if kind == "csv":
            table.assign(day=table.day.dt.strftime("%Y-%m-%d")).to_csv(f"{name}.csv", index=False)
        elif kind == "json":
            table.assign(day=table.day.dt.strftime("%Y-%m-%d")).to_json(f"{name}.json", orient="records")
        elif kind == "xlsx":
            table.to_excel(f"{name}.xlsx", index=False)
        elif kind == "parquet":
            table.assign(size=table["size"].map(lambda v: Decimal(str(v)))).to_parquet(f"{name}.parquet", index=False)
        else:
            with duckdb.connect(f"{name}.duckdb") as database:
                database.register("frame", table)
                database.execute("CREATE TABLE t AS SELECT * REPLACE (CAST(size AS DECIMAL(9, 2)) AS size) FROM frame")
        return ["SELECT * FROM t", "--database", f"{name}.duckdb"] if kind == "duckdb" else [f"{name}.{kind}"]

    markers = [word for marker in ("1900-01-01", "-999", "9") for word in ("--missing", marker)]
    fitted = write(marked, "marked")
    bayes = ["-t", "class", "-m", "naive-bayes", "--cv", 0]
    run("fit", *fitted, *bayes, "--categorical", "code", *markers, "-o", "m.tanbark")
    schema = tanbark.load("m.tanbark").schema_
    assert schema.columns[0].texts_of([schema.columns[0].low]) == [f"{day[i % 5 != 0].min():%Y-%m-%d}"]
    low, levels = schema.columns[schema.index("size")].low, schema.columns[schema.index("code")].levels
    assert (low, [str(level) for level in levels]) == (frame["size"][i % 6 != 0].min(), ["0", "1", "2"])
    # A model that does not know the markers.
    run("fit", *write(frame, "plain"), *bayes, "-o", "p.tanbark")
    run("predict", "p.tanbark", *fitted, *markers, "-o", "out.csv")
    model = tanbark.load("p.tanbark")
    gaps = frame.drop(columns="class").astype({"size": float, "code": float})
    gaps.loc[i % 5 == 0, "day"], gaps.loc[i % 6 == 0, "size"], gaps.loc[i % 4 == 0, "code"] = pd.NaT, np.nan, np.nan
    np.testing.assert_allclose(pd.read_csv("out.csv")[["p(a)", "p(b)"]], model.predict_proba(gaps), rtol=1e-9)

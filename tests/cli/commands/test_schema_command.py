import json
from pathlib import Path

import pyarrow as pa
import pytest

import tanbark
from tanbark.cli.input import fit_from_rows

ROWS = 120


@pytest.fixture
def visits(tmp_path):
    """An identifier, amounts with a currency, ambiguous dates, codes with leading zeros, and a marker as a level."""
    lines = ["patient,bill,visit,code,state,outcome"]
    for i in range(ROWS):
        bill = "n.k." if i % 20 == 7 else f'"${1000 + 37 * i:,}"'
        visit = f"{1 + i % 12:02d}/{1 + i % 9:02d}/2024"
        lines.append(f"P{i:04d},{bill},{visit},0{i % 7},{'-' if i % 5 else 'ok'},{['ill', 'well'][i % 3 % 2]}")
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_it_shows_how_each_column_is_read(run, visits):
    shown = run("schema", "visits.csv", "--target", "outcome").stdout
    kinds = {words[0]: words[1:] for words in map(str.split, shown.splitlines()) if words}
    assert shown.startswith("visits.csv: 120 rows, 5 columns and the class\n")
    assert kinds["patient"] == ["left", "out"]
    assert kinds["bill"] == ["number", "5.0%", "1000", "to", "5403"]
    assert kinds["visit"][:4] == ["date", "2024-01-01", "to", "2024-12-09,"]
    assert kinds["visit"][4:] == ["also", "its", "weekday", "and", "month"]
    assert kinds["code"] == ["category", "00,", "01,", "02,", "03,", "04,", "05,", "...", "(7", "levels)"]
    assert kinds["state"] == ["category", "-,", "ok"]
    assert kinds["outcome"] == ["class", "ill,", "well"]
    for note in (
        "column 'patient' looks like an identifier: left out; keep it with --keep patient",
        "column 'bill': read as numbers; 6 of 120 values were not ('n.k.') and count as missing",
        "column 'visit': dates such as '01/01/2024' are read as month/day/year; use --day-first for day/month/year",
        "column 'code' stays text because of leading zeros, as in '00'",
    ):
        assert f"note: {note}\n" in shown


def test_it_needs_no_class(run, visits):
    shown = run("schema", "visits.csv", "--json").stdout
    found = json.loads(shown)
    assert found["target"] is None
    assert found["rows"] == ROWS
    assert [column["name"] for column in found["columns"]][-1] == "outcome"


def test_json_describes_columns_and_holds_the_file(run, visits, tmp_path):
    found = json.loads(run("schema", "visits.csv", "-t", "outcome", "-o", "s.json", "--json").stdout)
    assert found["columns"][0] == {"name": "patient", "kind": "left out"}
    assert found["columns"][1] == {"name": "bill", "kind": "number", "missing": 0.05, "low": 1000.0, "high": 5403.0}
    assert found["columns"][2]["parts"] == ["weekday", "month"]
    assert found["columns"][4]["levels"] == ["-", "ok"]
    assert json.loads((tmp_path / "s.json").read_text()) == found["schema"]


def test_a_model_is_fitted_to_the_edited_file(run, visits, tmp_path):
    run("schema", "visits.csv", "-t", "outcome", "-o", "s.json")
    document = json.loads((tmp_path / "s.json").read_text())
    by_name = {column["name"]: column for column in document["columns"]}
    by_name["patient"]["kind"] = "category"
    by_name["visit"].update(date_format="day/month/year", parts=["month"])
    by_name["code"]["kind"] = "number"
    by_name["state"]["missing"] = ["-"]
    (tmp_path / "s.json").write_text(json.dumps(document))
    run("fit", "visits.csv", "--schema", "s.json", "--cv", 0, "-o", "m.tanbark")
    schema = tanbark.load("m.tanbark").schema_
    assert schema.class_name == "outcome"
    assert schema.names == ("patient", "bill", "visit", "visit (month)", "code", "state")
    columns = {column.name: column for column in schema.columns}
    assert columns["visit"].texts_of([columns["visit"].high]) == ["2024-09-12"]
    assert columns["code"].levels == (0, 1, 2, 3, 4, 5, 6)
    assert columns["state"].levels == ("ok",)
    run("predict", "m.tanbark", "visits.csv", "-o", "out.csv")


def test_the_file_that_it_writes_changes_nothing(run, visits):
    run("schema", "visits.csv", "-t", "outcome", "-o", "s.json")
    run("fit", "visits.csv", "-t", "outcome", "--cv", 0, "-o", "a.tanbark")
    run("fit", "visits.csv", "--schema", "s.json", "--cv", 0, "-o", "b.tanbark")
    a, b = tanbark.load("a.tanbark"), tanbark.load("b.tanbark")
    assert a.schema_ == b.schema_
    assert (a.counts_.table == b.counts_.table).all()


def test_a_streamed_table_gives_the_same(run, visits, monkeypatch):
    run("fit", "visits.csv", "-t", "outcome", "--model", "tan", "--cv", 0, "-o", "a.tanbark")
    monkeypatch.setattr(fit_from_rows, "MAX_BYTES_IN_MEMORY", 1)
    run("fit", "visits.csv", "-t", "outcome", "--model", "tan", "-o", "b.tanbark")
    assert tanbark.load("a.tanbark").counts_ == tanbark.load("b.tanbark").counts_


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        ("{", "s.json is not valid JSON"),
        ("[]", "s.json is not a schema file; write one with tanbark schema DATA -o s.json"),
        ('{"columns": 3}', "s.json is not a schema file"),
        ('{"kind": "number"}', "s.json has the unknown key 'kind'; the keys are target, missing"),
        ('{"target": 3}', "s.json: target must be the name of a column, got 3"),
        ('{"target": "gone"}', "visits.csv has no column 'gone'"),
        ('{"columns": [{"name": "gone", "kind": "number"}]}', "s.json names the column 'gone', which is not in visits"),
        ('{"columns": [{"kind": "number"}]}', "s.json: column 1 of the recipe is not valid: it has no name"),
        ('{"columns": [{"name": "bill", "kind": "numeric"}]}', "column 'bill': kind must be 'unchanged' or 'category'"),
        ('{"columns": [{"name": "bill", "low": 3}]}', "'low' is not one of name, kind"),
        ('{"columns": [{"name": "state", "kind": "number"}]}', "column 'state'"),
        ('{"columns": [{"name": "bill"}, {"name": "bill"}]}', "two columns named 'bill'"),
        ('{"decimal": ";"}', "s.json: decimal must be"),
        ('{"missing": "n.k."}', "s.json: missing must be a list of texts"),
    ],
)
def test_a_file_edited_into_nonsense_gets_one_sentence(run, visits, tmp_path, edit, sentence):
    (tmp_path / "s.json").write_text(edit)
    target = [] if "target" in edit else ["-t", "outcome"]
    assert sentence in run("fit", "visits.csv", *target, "--schema", "s.json", code=1).stderr
    assert not (tmp_path / "visits.tanbark").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--keep", "gone"], "--keep names the column 'gone', which is not in visits.csv"),
        (["--keep", "outcome"], "'outcome' is the class and cannot have the option --keep"),
        (["--ignore", "code", "--keep", "code"], "--ignore and --keep both name the column 'code'; use one"),
        (["--categorical", "gone"], "--categorical names the column 'gone'"),
        (["--decimal", ";"], "--decimal must be . or ,"),
        (["--missing", "x", "--missing-only", "y"], "use one"),
        (["--schema", "gone.json"], "there is no file gone.json"),
        (["--group", "gone"], "--group names the column 'gone'"),
        (["--dates", "weekly"], "--dates must be one of expand, number, ignore, got 'weekly'"),
        (["--sheet", "2"], "sheet"),
        (["--encoding", "klingon"], "klingon"),
    ],
)
def test_wrong_options_get_one_sentence(run, visits, words, sentence):
    assert sentence in run("fit", "visits.csv", "-t", "outcome", *words, code=1).stderr


def test_options_say_how_columns_are_read(run, visits):
    words = ["--keep", "patient", "--missing", "n.k.", "--day-first", "--categorical", "bill"]
    found = json.loads(run("schema", "visits.csv", "-t", "outcome", *words, "--json").stdout)
    columns = {column["name"]: column for column in found["columns"]}
    assert len(columns["patient"]["levels"]) == ROWS
    assert columns["bill"]["kind"] == "category"
    assert columns["bill"]["missing"] == 0.05
    assert columns["visit"]["high"] == (pa.scalar("2024-09-12").cast(pa.date32()).value)


def test_a_decimal_separator_can_be_given(run, tmp_path):
    (tmp_path / "t.csv").write_text("x;class\n" + "1,125;a\n2,250;b\n" * 20)
    (column,) = json.loads(run("schema", "t.csv", "--json").stdout)["columns"]
    assert column["levels"] == [1125, 2250]
    (column,) = json.loads(run("schema", "t.csv", "--decimal", ",", "--json").stdout)["columns"]
    assert (column["low"], column["high"]) == (1.125, 2.25)


def test_a_date_can_be_only_a_number_or_be_left_out(run, visits, tmp_path):
    for dates, names in (("number", ["visit"]), ("ignore", [])):
        run("fit", "visits.csv", "-t", "outcome", "--dates", dates, "--cv", 0, "-o", "m.tanbark")
        assert [name for name in tanbark.load("m.tanbark").schema_.names if name.startswith("visit")] == names
        run("predict", "m.tanbark", "visits.csv", "-o", "out.csv")


def test_a_part_of_a_date_with_the_name_of_another_column_gets_one_sentence(run, tmp_path):
    rows = "".join(f"2024-0{1 + i % 9}-01,{i % 3},{'ab'[i % 2]}\n" for i in range(30))
    (tmp_path / "t.csv").write_text("when,when (month),class\n" + rows)
    said = run("fit", "t.csv", code=1).stderr
    assert "the column of dates 'when' is expanded into a column 'when (month)', but the table already has one" in said
    assert said.endswith("rename it, or use --dates number\n")
    run("fit", "t.csv", "--dates", "number")


@pytest.mark.parametrize("option", [("--day-first",), ("--dates", "number"), ("--decimal", ","), ("--keep", "patient")])
def test_options_without_effect_beside_a_schema_file_are_refused(run, visits, option):
    run("schema", "visits.csv", "-t", "outcome", "-o", "s.json")
    said = run("fit", "visits.csv", "--schema", "s.json", *option, code=1).stderr
    assert f"{option[0]} has no effect, because s.json determines how every column is read; edit the file" in said


@pytest.mark.parametrize("kind", ["category", "ignored"])
def test_a_date_can_be_made_another_kind(run, tmp_path, kind):
    rows = [f"2024-{1 + n % 12:02}-{1 + n % 28:02},{n % 7},{'ab'[n % 2]}" for n in range(60)]
    Path("t.csv").write_text("\n".join(["seen,x,class", *rows]))
    run("schema", "t.csv", "-o", "s.json")
    text = Path("s.json").read_text()
    assert '"parts"' in text
    Path("s.json").write_text(text.replace('"kind": "date"', f'"kind": "{kind}"'))
    run("fit", "t.csv", "--schema", "s.json", "--cv", 0)
    assert tanbark.load("t.tanbark").schema_.names == (("seen", "x") if kind == "category" else ("x",))


def test_a_table_without_a_class_is_shown_too(run, tmp_path):
    rows = [f"{'inf' if n == 3 else n / 4},{'xyz'[n % 3]}" for n in range(60)]
    Path("t.csv").write_text("\n".join(["a,b", *rows]))
    found = json.loads(run("schema", "t.csv", "--json").stdout)
    assert (found["rows"], found["target"]) == (60, None)
    assert [one["kind"] for one in found["columns"]] == ["number", "category"]
    assert found["columns"][0]["missing"] == 1 / 60


def test_invisible_characters_are_escaped_before_lines_are_cut(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    Path("t.csv").write_text("\n".join(["x,class", *["a\u2028b,p", "foo\u202ebar,q"] * 20]), encoding="utf-8")
    said = run("schema", "t.csv").stdout
    assert "\u2028" not in said
    assert "a\\u2028b" in said.replace("\n", "").replace(" ", "")
    assert "foo\\u202ebar" in said.replace("\n", "").replace(" ", "")


def test_markers_of_a_schema_file_hold_beside_the_option_categorical(run, tmp_path):
    Path("t.csv").write_text("\n".join(["code,x,class", *[f"{n % 4},{n / 8},{'ab'[n % 3 == 0]}" for n in range(80)]]))
    columns = [{"name": "code", "kind": "category", "missing": ["3"]}]
    Path("s.json").write_text(json.dumps({"target": "class", "columns": columns}))
    for options in ((), ("--categorical", "code")):
        found = json.loads(run("schema", "t.csv", "--schema", "s.json", *options, "--json").stdout)
        assert found["columns"][0] == {"name": "code", "kind": "category", "missing": 0.25, "levels": [0, 1, 2]}

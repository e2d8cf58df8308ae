"""What commands tell scripts: one JSON document on stdout, nothing else, numbers as they are."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import mutual_info_score

import tanbark
from tanbark.datasets import lenses


@pytest.fixture
def ask(run):
    """Run a command with --json and return its document."""

    def asked(*words, **settings):
        result = run(*words, "--json", **settings)
        assert result.stderr == ""
        return json.loads(result.stdout, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))

    return asked


@pytest.fixture
def weather(write, table, tmp_path):
    return write(table, tmp_path / "t.csv")


def test_fit_tells_what_was_learned_and_how_well_it_predicts(ask, weather, table):
    told = ask("fit", weather, "-t", "walk", "--cv", 4, "--model", "tan", "--set", "ess=3")
    assert (told["model"], told["rows"], told["file"], told["data"]) == ("tan", 40, "t.tanbark", str(weather))
    assert told["settings"]["ess"] == 3
    walk = table.column("walk").to_pylist()
    assert told["class"]["name"] == "walk"
    assert dict(zip(told["class"]["levels"], told["class"]["rows"])) == {k: walk.count(k) for k in ("no", "yes")}
    sky, wind, degrees = told["columns"]
    assert (sky["levels"], wind["levels"]) == (["cloud, grey", "rain", "sun"], [0, 1, 2, 3])
    assert sky["information"] == pytest.approx(mutual_info_score(table.column("sky").to_pylist(), walk))
    assert degrees["kind"] == "number"
    assert degrees["missing"] == pytest.approx(table.column("degrees").null_count / 40)
    assert told["parents"] == {k: list(v) for k, v in tanbark.load("t.tanbark").network_.parents.items()}
    validated = told["cross_validation"]
    assert validated["folds"] == 4
    assert (validated["error"]["mean"] * 40) % 1 == pytest.approx(0)
    assert validated["log_loss"]["standard_error"] > 0


def test_what_was_not_found_out_is_null(ask, weather):
    told = ask("fit", weather, "-t", "walk", "--cv", 0, "--model", "aode")
    assert (told["cross_validation"], told["parents"], told["log_score"], told["evidence"]) == (None,) * 4
    # Of a class in one fold only there is no area under the curve elsewhere.
    assert ask("fit", weather, "-t", "walk", "--cv", 40, "--model", "tan")["cross_validation"]["auc"] == {
        "mean": None,
        "standard_error": None,
    }


def test_notes_are_told_too(ask, tmp_path):
    lines = [f"{i},{'ab'[i % 2]},{'xy'[i % 3 % 2]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["id,a,y", *lines]))
    [note] = ask("fit", "t.csv", "-t", "y", "--cv", 0)["notes"]
    assert note == "column 'id' numbers the rows: left out; keep it with --keep id"


def test_the_evidence_of_an_additive_model_is_told(ask, weather, table):
    told = ask("fit", weather, "-t", "walk", "--cv", 0)
    assert told["model"] == "evidence-bn"
    model = tanbark.load("t.tanbark")
    evidence = told["evidence"]
    X = table.drop_columns(["walk"])
    means = np.abs(model.explain(X)[:, 1:]).mean(axis=(0, 2))
    assert [one["mean_absolute"] for one in evidence["columns"]] == pytest.approx(means)
    assert [(p, one["name"]) for one in evidence["columns"] for p in one["parents"]] == model.edges_
    assert [one["weights"][0] for one in evidence["columns"]] == model.weights_[0].tolist()
    assert sum(one["share"] for one in evidence["tried"]) == pytest.approx(1)
    assert told["columns"][2]["missing"] == pytest.approx(table.column("degrees").null_count / 40)
    assert ask("show", "t.tanbark")["evidence"] == evidence


def test_show_tells_what_fit_told(ask, weather):
    fitted = ask("fit", weather, "-t", "walk", "--model", "tan")
    told = ask("show", "t.tanbark")
    assert told == {key: fitted[key] for key in told}
    model = tanbark.load("t.tanbark")
    for node in model.network_.names:
        table = ask("show", "t.tanbark", "--table", node)
        assert (table["node"], tuple(table["parents"])) == (node, model.network_.parents[node])
        probabilities = np.array(table["probabilities"])
        assert probabilities.shape == tuple(len(levels) for levels in table["levels"])
        assert np.array_equal(probabilities, model.network_.table(node))


def test_every_classifier_can_be_told_of(ask, write, tmp_path):
    write(lenses().frame(), tmp_path / "t.csv")
    for name in ("naive-bayes", "averaged-tan", "bayes-net", "boosted-bn", "additive-bn"):
        told = ask("fit", "t.csv", "--model", name, "--cv", 0)
        assert told["model"] == name
        assert (told["log_score"] is not None) == (name == "bayes-net")
    assert ask("fit", "t.csv", "--model", "averaged-tan", "--set", "multinet=true", "--cv", 0)["parents"] is None


def test_update_tells_what_was_new_and_how_well_it_was_foreseen(ask, weather, tmp_path):
    ask("fit", weather, "-t", "walk", "--model", "tan")
    before = tanbark.load("t.tanbark")
    (tmp_path / "new.csv").write_text("sky,wind,degrees,walk,more\nsun,1,12,yes,0\nsnow,2,11,no,0\nrain,3,,,0\n")
    known = pa.table({"sky": ["sun", None], "wind": [1, 2], "degrees": [12.0, 11.0]})
    probabilities = before.predict_proba(known)
    told = ask("update", "t.tanbark", "new.csv", "--chunk-id", "a")
    assert (told["learned"], told["rows_before"], told["kept"], told["rows_now"]) == (2, 40, 1.0, 42)
    assert told["new_levels"] == {"sky": ["snow"]}
    assert told["new_classes"] == []
    assert told["foreseen"]["accuracy"] == np.mean(before.classes_[probabilities.argmax(axis=1)] == ["yes", "no"])
    assert told["foreseen"]["log_loss"] == pytest.approx(-np.log(probabilities[[0, 1], [1, 0]]).mean())
    assert [note.split(" ")[0] for note in told["notes"]] == ["1", "the"]
    again = ask("update", "t.tanbark", "new.csv", "--chunk-id", "a")
    assert (again["file"], again["chunk_id"], again["learned"]) == ("t.tanbark", "a", 0)
    assert "already" in again["notes"][0]


def test_compare_tells_the_ranking_and_the_recommendation(ask, run, weather):
    told = ask("compare", weather, "-t", "walk", "-m", "naive-bayes,tan,cart", "--folds", 3, "--jobs", 1)
    assert (told["rows"], told["columns"], told["classes"], told["by"]) == (40, 3, ["no", "yes"], "log_loss")
    means = [one["log_loss"]["mean"] for one in told["ranking"]]
    assert means == sorted(means)
    assert {one["name"] for one in told["ranking"]} == {"naive-bayes", "tan", "cart"}
    assert all(0 <= one["p_value"] <= 1 for one in told["ranking"])
    assert told["failures"] == {}
    assert told["fit"] == f"tanbark fit {weather} --target walk --model {told['chosen']}"
    assert told["page"] == "t-comparison.html"


def test_predict_tells_of_the_file_it_wrote(ask, run, weather, table):
    ask("fit", weather, "-t", "walk")
    told = ask("predict", "t.tanbark", weather, "-o", "p.csv")
    said = tanbark.load("t.tanbark").predict(table.drop_columns("walk"))
    right = int((said == np.array(table.column("walk").to_pylist())).sum())
    assert told == {
        "file": "t.tanbark",
        "data": str(weather),
        "output": "p.csv",
        "rows": 40,
        "labelled": 40,
        "right": right,
        "accuracy": right / 40,
        "training_rows": True,
        "notes": ["these are the rows that the model learned from; on new rows its performance is probably lower"],
    }
    assert "name the file with --output" in run("predict", "t.tanbark", weather, "--json", code=1).stderr

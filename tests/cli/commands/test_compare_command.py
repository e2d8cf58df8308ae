"""The command that recommends a classifier."""

from __future__ import annotations

import re
import warnings
from html import unescape

import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_score

import tanbark.classifiers.registry as registry
from tanbark import NaiveBayes
from tanbark.cli.commands.compare_command import RANKING_METRICS, SCIKIT_LEARN_MODELS, _parse_names
from tanbark.evaluate import candidate_names
from tanbark.evaluate.candidates import PEERS
from tanbark.evaluate.recommendation import METRIC_LABELS

QUICK = ("--models", "naive-bayes,tan,cart", "--folds", 3, "--jobs", 1)
HOSTILE = "<script>alert('x')</script> \"&"


@pytest.fixture
def weather(write, table, tmp_path):
    return write(table, tmp_path / "t.csv")


def test_the_ranking_the_recommendation_and_the_page_agree(run, weather, tmp_path):
    said = run("compare", "t.csv", "--target", "walk", *QUICK).stdout
    page = (tmp_path / "t-comparison.html").read_text()
    shown = re.findall(r"^(naive-bayes|tan|cart) .*$", said, re.MULTILINE)
    assert sorted(shown[:3]) == ["cart", "naive-bayes", "tan"]
    assert re.findall(r"<td>(naive-bayes|tan|cart)</td>", page) == shown[:3]
    assert f"{shown[0]} has the lowest log loss" in said
    chosen = re.search(r"tanbark fit t.csv --target walk --model (\S+)\n", said)[1]
    assert f"tanbark fit t.csv --target walk --model {chosen}</pre>" in page
    assert said.split("\n\n")[1].split("\n")[0] in unescape(page)
    assert page.count("<svg ") == 3
    assert "tanbark compare t.csv --target walk --models naive-bayes,tan,cart --folds 3 --jobs 1</pre>" in page
    run("fit", "t.csv", "--target", "walk", "--model", chosen, "--cv", 0)


def test_the_error_equals_that_of_scikit_learns_cross_validation(run, table, tmp_path, write):
    # One row per fold leaves no choice of folds.
    few = table.slice(0, 20)
    write(few, tmp_path / "few.csv")
    said = run("compare", "few.csv", "--target", "walk", "-m", "naive-bayes", "--folds", 20, "--jobs", 1).stdout
    X, y = few.drop_columns(["walk"]).to_pandas(), few.column("walk").to_pandas()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right = cross_val_score(NaiveBayes(), X, y, cv=LeaveOneOut())
    assert f"misclassifies {100 * (1 - right.mean()):.1f}% of held-out rows" in said


def test_all_affordable_classifiers_are_compared_by_default(run, weather):
    said = run("compare", "t.csv", "--target", "walk", "--folds", 2, "--jobs", 1, "--by", "error").stdout
    for name in (*registry.REGISTRY, "cart", "random-forest", "gradient-boosting"):
        assert re.search(rf"^{name} ", said, re.MULTILINE)
    assert "skipped" not in said
    assert "failed" not in said


def test_a_class_with_few_rows_is_noted(run, write, table, tmp_path):
    walk = ["seldom", "seldom", *table.column("walk").to_pylist()[2:]]
    write(table.set_column(3, "walk", [walk]), tmp_path / "t.csv")
    said = run("compare", "t.csv", "--target", "walk", "-m", "naive-bayes", "-m", "cart", "--jobs", 1).stdout
    assert said.count("note: the class 'seldom' has 2 rows, fewer than the 10 folds") == 1
    assert "has the lowest log loss" in said


def test_a_failing_classifier_is_listed_with_the_reason(run, weather, tmp_path, monkeypatch):
    class Broken(NaiveBayes):
        def fit(self, X, y):
            raise ValueError("it\nbroke <here>")

    monkeypatch.setattr("tanbark.classifiers.tan.Broken", Broken, raising=False)
    entry = registry.Entry("tan", "Broken", "", "")
    monkeypatch.setitem(registry.REGISTRY, "tan", entry)
    said = run("compare", "t.csv", "--target", "walk", *QUICK).stdout
    assert "tan failed: ValueError: it broke <here>\n" in said
    assert "naive-bayes" in said.split("tan failed")[0]
    assert "<td>ValueError: it broke &lt;here&gt;</td>" in (tmp_path / "t-comparison.html").read_text()
    alone = run("compare", "t.csv", "--target", "walk", "-m", "tan", "--folds", 3, "--jobs", 1, code=1)
    assert alone.stderr == "error: no classifier could be fitted: ValueError: it broke <here>\n"


def test_names_are_escaped_on_the_page(run, tmp_path):
    rows = range(30)
    columns = {HOSTILE: [HOSTILE if i % 3 else "b" for i in rows], "n": list(rows)}
    pa.parquet.write_table(
        pa.table({**columns, f"y{HOSTILE}": [HOSTILE if i % 2 else "no" for i in rows]}), "h.parquet"
    )
    run("compare", "h.parquet", "--target", f"y{HOSTILE}", *QUICK, "-o", "h.html", "--ignore", "n")
    page = (tmp_path / "h.html").read_text()
    assert "<script" not in page
    assert f"classes of y{HOSTILE}" in unescape(page)


def test_options_of_the_table_are_repeated_in_the_suggested_command(run, weather):
    said = run(
        "compare", "t.csv", "-t", "walk", *QUICK, "--ignore", "wind", "--bins", "width", "--categorical", "degrees"
    )
    assert re.search(r"--model \S+ --ignore wind --categorical degrees --bins width\n", said.stdout)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--models", "tan,nonsense"], "there is no model 'nonsense'; the models are evidence-bn, "),
        (["--by", "luck"], "--by must be one of error, log_loss, brier, auc, got 'luck'"),
        (["--folds", "1"], "--folds must be at least 2, got 1"),
        (["--folds", "41"], "41 folds need at least as many rows, got 40"),
        (["--repeats", "0"], "--repeats must be at least 1"),
        (["--jobs", "0"], "--jobs must be at least 1"),
        (["-o", "nowhere/page.html"], "cannot write nowhere/page.html: there is no folder nowhere"),
        (["--ignore", "rain"], "--ignore names the column 'rain'"),
    ],
)
def test_invalid_options_are_refused_before_any_work(run, weather, tmp_path, words, reason, monkeypatch):
    monkeypatch.setattr("tanbark.evaluate.cross_validation.Trial.of", None)
    assert reason in run("compare", "t.csv", "--target", "walk", *words, code=1).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_table_of_one_class_is_refused(run, write, table, tmp_path):
    write(table.set_column(3, "walk", [["yes"] * 40]), tmp_path / "t.csv")
    said = run("compare", "t.csv", "--target", "walk", code=1).stderr
    assert "y has a single class, 'yes'; at least two are needed" in said


def test_classifiers_that_take_too_long_are_skipped_with_a_note(run, weather, monkeypatch):
    slow = {"bnc2p", "cart", "tan"}
    names = ("bnc2p", "cart", "naive-bayes", "tan")
    monkeypatch.setattr("tanbark.evaluate.candidates.candidate_names", lambda: names)
    monkeypatch.setattr("tanbark.evaluate.candidates.fold_seconds", lambda name, *shape: 99.0 if name in slow else 0.0)
    said = run("compare", "t.csv", "--target", "walk", "--folds", 2).stdout
    assert "note: skipped bnc2p, cart: expected to take more than 6 s per fold" in said
    assert "use --models all to include them" in said
    assert re.search("^tan ", said, re.MULTILINE)


def test_models_are_separated_by_commas_or_given_one_by_one_or_all():
    assert _parse_names(["tan, cart", "aode", "tan"]) == ["tan", "cart", "aode"]
    assert _parse_names(["tan,all"]) == list(candidate_names())


def test_names_for_shell_completion_are_those_of_the_library():
    assert tuple(PEERS) == SCIKIT_LEARN_MODELS
    assert tuple(METRIC_LABELS) == RANKING_METRICS


def test_the_table_itself_is_not_overwritten(run, weather):
    before = weather.read_bytes()
    for command in ("compare", "fit"):
        said = run(command, "t.csv", "-t", "walk", "-o", "t.csv", code=1)
        assert "t.csv is already an input or output of this command" in said.stderr
    assert weather.read_bytes() == before


def test_a_column_that_predicts_the_class_is_noted(run, tmp_path):
    rows = [f"{n},{n * 37 % 100 / 4},{'ab'[n >= 150]}" for n in range(300)]
    (tmp_path / "t.csv").write_text("\n".join(["when,x,class", *rows]))
    said = run("compare", "t.csv", "--keep", "when", "-m", "naive-bayes", "--folds", 2, "--jobs", 1).stdout
    assert "column 'when' alone predicts the class in 100.0% of the rows; check for leakage" in said
    assert "before the class, leave it out with --ignore" in said.replace("\n", " ")


def test_weights_are_used_and_repeated_in_the_command_to_fit(run, write, table, tmp_path):
    times = [1 + i % 3 for i in range(40)]
    write(table.append_column("times", [times]), tmp_path / "t.csv")
    said = run("compare", "t.csv", "--target", "walk", "--weight", "times", *QUICK).stdout
    assert "3 stratified folds, rows weighted by 'times'" in said
    assert re.search(r"tanbark fit t.csv --target walk --model \S+ --weight times\n", said)
    assert "rows weighted by &#x27;times&#x27;" in (tmp_path / "t-comparison.html").read_text()

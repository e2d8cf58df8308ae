"""The command that says which classifier to take."""

from __future__ import annotations

import re
import warnings
from html import unescape

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_score

import tanbark
import tanbark.classifiers.registry as registry
from tanbark import NaiveBayes
from tanbark.cli.contenders import known, named, sensible
from tanbark.cli.recommendation import Baseline, choose, recommend
from tanbark.evaluate import Comparison, CrossValidation
from tanbark.evaluate.comparison import Rank
from tanbark.evaluate.results import Fold

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
    assert f"{shown[0]} predicts best by log loss" in said
    chosen = re.search(r"tanbark fit t.csv --target walk --model (\S+)\n", said)[1]
    assert f"tanbark fit t.csv --target walk --model {chosen}</pre>" in page
    assert said.split("\n\n")[1].split("\n")[0] in unescape(page)
    assert page.count("<svg ") == 3
    assert "tanbark compare t.csv --target walk --models naive-bayes,tan,cart --folds 3 --jobs 1</pre>" in page
    run("fit", "t.csv", "--target", "walk", "--model", chosen, "--cv", 0)


def test_the_error_is_that_of_scikit_learns_cross_validation(run, table, tmp_path, write):
    # One row per fold leaves no choice of folds.
    few = table.slice(0, 20)
    write(few, tmp_path / "few.csv")
    said = run("compare", "few.csv", "--target", "walk", "-m", "naive-bayes", "--folds", 20, "--jobs", 1).stdout
    X, y = few.drop_columns(["walk"]).to_pandas(), few.column("walk").to_pandas()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right = cross_val_score(NaiveBayes(), X, y, cv=LeaveOneOut())
    assert f"errs on {100 * (1 - right.mean()):.1f}% of rows" in said


def test_all_sensible_classifiers_take_part_unless_some_are_named(run, weather):
    said = run("compare", "t.csv", "--target", "walk", "--folds", 2, "--jobs", 1, "--by", "error").stdout
    for name in (*registry.REGISTRY, "cart", "random-forest", "gradient-boosting"):
        assert re.search(rf"^{name} ", said, re.MULTILINE)
    assert "left out" not in said
    assert "failed" not in said


def test_a_class_of_few_rows_is_noted_and_the_comparison_goes_on(run, write, table, tmp_path):
    walk = ["seldom", "seldom", *table.column("walk").to_pylist()[2:]]
    write(table.set_column(3, "walk", [walk]), tmp_path / "t.csv")
    said = run("compare", "t.csv", "--target", "walk", "-m", "naive-bayes", "-m", "cart", "--jobs", 1).stdout
    assert said.count("note: the class 'seldom' has 2 rows, fewer than the 10 folds") == 1
    assert "predicts best" in said


def test_a_classifier_that_fails_says_why_and_the_others_go_on(run, weather, tmp_path, monkeypatch):
    class Broken(NaiveBayes):
        def fit(self, X, y):
            raise ValueError("it\nbroke <here>")

    monkeypatch.setattr(tanbark, "Broken", Broken, raising=False)
    entry = registry.Entry("tan", "Broken", "", "")
    monkeypatch.setitem(registry.REGISTRY, "tan", entry)
    said = run("compare", "t.csv", "--target", "walk", *QUICK).stdout
    assert "tan failed: ValueError: it broke <here>\n" in said
    assert "naive-bayes" in said.split("tan failed")[0]
    assert "<td>ValueError: it broke &lt;here&gt;</td>" in (tmp_path / "t-comparison.html").read_text()
    alone = run("compare", "t.csv", "--target", "walk", "-m", "tan", "--folds", 3, "--jobs", 1, code=1)
    assert alone.stderr == "error: no classifier could learn from t.csv: ValueError: it broke <here>\n"


def test_hostile_names_are_only_text_on_the_page(run, tmp_path):
    rows = range(30)
    columns = {HOSTILE: [HOSTILE if i % 3 else "b" for i in rows], "n": list(rows)}
    pa.parquet.write_table(
        pa.table({**columns, f"y{HOSTILE}": [HOSTILE if i % 2 else "no" for i in rows]}), "h.parquet"
    )
    run("compare", "h.parquet", "--target", f"y{HOSTILE}", *QUICK, "-o", "h.html", "--ignore", "n")
    page = (tmp_path / "h.html").read_text()
    assert "<script" not in page
    assert f"classes of y{HOSTILE}" in unescape(page)


def test_options_of_the_table_are_passed_on_to_the_command_that_comes_next(run, weather):
    said = run(
        "compare", "t.csv", "-t", "walk", *QUICK, "--ignore", "wind", "--bins", "width", "--categorical", "degrees"
    )
    assert re.search(r"--model \S+ --ignore wind --categorical degrees --bins width\n", said.stdout)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--models", "tan,nonsense"], "there is no model 'nonsense'; the models are naive-bayes, tan, forest-an"),
        (["--by", "luck"], "--by must be one of error, log_loss, brier, auc, got 'luck'"),
        (["--folds", "1"], "--folds must be at least 2, got 1"),
        (["--folds", "41"], "40 rows are too few for 41 folds"),
        (["--repeats", "0"], "--repeats must be at least 1"),
        (["--jobs", "0"], "--jobs must be at least 1"),
        (["-o", "nowhere/page.html"], "cannot write nowhere/page.html: there is no folder nowhere"),
        (["--ignore", "rain"], "--ignore names the column 'rain'"),
    ],
)
def test_what_cannot_be_is_said_before_any_work(run, weather, tmp_path, words, reason, monkeypatch):
    monkeypatch.setattr("tanbark.evaluate.cross_validation.Trial.of", None)
    assert reason in run("compare", "t.csv", "--target", "walk", *words, code=1).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_table_of_one_class_is_refused(run, write, table, tmp_path):
    write(table.set_column(3, "walk", [["yes"] * 40]), tmp_path / "t.csv")
    said = run("compare", "t.csv", "--target", "walk", code=1).stderr
    assert "every row is of the class 'yes', so there is nothing to tell apart" in said


def test_what_takes_too_long_is_left_out_and_said(run, weather, monkeypatch):
    assert sensible(1_000, 20) == (list(known()), [])
    assert "random-forest" in sensible(5_000_000, 50)[1]
    assert "naive-bayes" in sensible(5_000_000, 50)[0]
    slow = {"bnc2p", "cart", "tan"}
    monkeypatch.setattr("tanbark.cli.contenders.known", lambda: ("bnc2p", "cart", "naive-bayes", "tan"))
    monkeypatch.setattr("tanbark.cli.contenders.fold_seconds", lambda name, *shape: 99.0 if name in slow else 0.0)
    said = run("compare", "t.csv", "--target", "walk", "--folds", 2).stdout
    assert "note: bnc2p, cart are left out" in said
    assert "--models all tries all" in said
    assert re.search("^tan ", said, re.MULTILINE)


def test_classifiers_can_be_named_by_commas_and_one_by_one_and_all_at_once():
    assert named(["tan, cart", "aode", "tan"]) == ["tan", "cart", "aode"]
    assert named(["tan,all"]) == list(known())


# What the recommendation says


def ranked(*pairs):
    return [Rank(name, 0.1 * at, 0.35, p) for at, (name, p) in enumerate(pairs)]


@pytest.mark.parametrize(
    ("pairs", "chosen"),
    [
        ([("random-forest", 1.0), ("aode", 0.5), ("kdb", 0.2), ("tan", 0.06), ("naive-bayes", 0.04)], "tan"),
        ([("random-forest", 1.0), ("aode", 0.5), ("naive-bayes", 0.04)], "aode"),
        ([("cart", 1.0), ("kdb", 0.01), ("aode", 0.01)], "kdb"),
        ([("cart", 1.0), ("random-forest", 0.3)], None),
        # naive-bayes cannot be told from the best, but is more than a standard error away.
        ([("kdb", 1.0), ("tan", 0.5), ("aode", 0.5), ("bnc2p", 0.3), ("naive-bayes", 0.2)], "tan"),
        ([("tan", 1.0), ("naive-bayes", float("nan"))], "naive-bayes"),
    ],
)
def test_the_simplest_network_among_the_best_is_chosen(pairs, chosen):
    assert choose(ranked(*pairs)) == chosen


def result(right: float, said: float, folds: int = 10, rows: int = 200, seed: int = 0) -> CrossValidation:
    """Return a classifier that gives the probability `said` to its prediction, and is right in a share of the rows."""
    found = []
    for fold in range(folds):
        truth = np.zeros(rows, np.int64)
        truth[: round((1 - right) * rows) + (fold + seed) % 3] = 1
        log_probabilities = np.tile(np.log([said, 1 - said]), (rows, 1))
        found.append(Fold(np.arange(rows), truth, log_probabilities, rows * (folds - 1), 0.1, 0.1))
    return CrossValidation(np.array(["a", "b"]), tuple(found), 1, 0)


BASELINE = Baseline("a", 0.6, 0.67)


def test_probabilities_that_are_too_sure_are_called_so():
    honest = recommend(Comparison({"tan": result(0.9, 0.9)}, {}), {}, "log_loss", BASELINE)
    assert any("tan can be trusted" in words for words in honest.sentences)
    sure = recommend(Comparison({"tan": result(0.8, 0.95)}, {}), {}, "log_loss", BASELINE)
    assert any("too sure" in words and "15." in words for words in sure.sentences)
    shy = recommend(Comparison({"tan": result(0.95, 0.8)}, {}), {}, "log_loss", BASELINE)
    assert any("not sure enough" in words for words in shy.sentences)


def test_more_rows_help_where_the_second_half_of_them_did():
    half, whole = result(0.8, 0.8), result(0.9, 0.9, seed=1)
    curve = {0.5: Comparison({"tan": half}, {}), 1.0: Comparison({"tan": whole}, {})}
    assert any(
        "More rows would likely help" in words for words in recommend(curve[1.0], curve, "error", BASELINE).sentences
    )
    same = {0.5: Comparison({"tan": result(0.895, 0.9)}, {}), 1.0: Comparison({"tan": whole}, {})}
    assert any("may be luck" in words for words in recommend(same[1.0], same, "error", BASELINE).sentences)


def test_columns_that_say_nothing_are_called_so():
    found = Comparison({"tan": result(0.6, 0.95)}, {})
    idle = recommend(found, {}, "log_loss", BASELINE)
    assert "the columns say little" in idle.sentences[0]
    assert idle.chosen is None
    assert idle.sentences[-1] == "None of them is worth taking as it is."
    # Sure when it errs, but it errs seldom.
    seldom = Comparison({"cart": result(0.94, 1 - 1e-15)}, {})
    assert "say little" not in recommend(seldom, {}, "error", BASELINE).sentences[0]


def test_the_table_itself_is_not_overwritten(run, weather):
    before = weather.read_bytes()
    for command in ("compare", "fit"):
        said = run(command, "t.csv", "-t", "walk", "-o", "t.csv", code=1)
        assert "t.csv is already an input or output of this command" in said.stderr
    assert weather.read_bytes() == before

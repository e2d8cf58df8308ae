from __future__ import annotations

import pandas as pd
import pytest

import tanbark
from tanbark.datasets import lenses, monks

PENALTIES = ("weight_penalty", "correction_penalty", "edge_penalty")


@pytest.fixture
def model(write, run, tmp_path):
    write(lenses().frame(), tmp_path / "lenses.csv")
    run("fit", "lenses.csv", "--cv", 0, "--model", "tan")
    return tanbark.load("lenses.tanbark")


def plain(text):
    return "\n".join(line.rstrip() for line in text.splitlines())


def test_the_network_the_columns_and_the_settings_are_shown(run, model):
    said = plain(run("show", "lenses.tanbark").stdout)
    assert str(model.network_) in said
    none = 15 / 24
    for words in ("24 rows", "ess=10.0", f"none {none:.1%}", "I(X;C)", "myope", "tan, attributes depend"):
        assert words in said


def test_a_table_shows_every_probability(run, model):
    for name in model.network_.names:
        said = run("show", "lenses.tanbark", "--table", name).stdout
        for p in model.network_.table(name).ravel():
            assert f"{p:.4f}" in said


def test_a_node_that_is_not_there_gets_one_sentence(run, model):
    assert "no node is named 'oak'; the nodes are" in run("show", "lenses.tanbark", "--table", "oak", code=1).stderr


def test_a_model_fitted_in_python_is_shown(run):
    X, y = lenses()
    tanbark.save(tanbark.NaiveBayes().fit(X, y), "m.tanbark")
    assert "x3" in run("show", "m.tanbark").stdout


@pytest.mark.parametrize("command", [("show",), ("predict", "lenses.csv"), ("update", "lenses.csv"), ("export",)])
def test_commands_about_a_stream_say_what_to_save_instead(command, run, write, tmp_path):
    write(lenses().frame(), tmp_path / "lenses.csv")
    tanbark.save(tanbark.Stream(tanbark.TAN()).fit(*lenses()), "m.tanbark")
    name, *data = command
    options = ("--to", "dot") if name == "export" else ()
    said = run(name, "m.tanbark", *data, *options, code=1).stderr
    assert "holds a Stream, which only Python continues; save its model_" in said


@pytest.mark.parametrize("multinet", [False, True])
def test_an_average_shows_its_best_tree_and_how_probable_the_edges_are(run, write, tmp_path, multinet):
    write(lenses().frame(), tmp_path / "lenses.csv")
    said = run("fit", "lenses.csv", "--model", "averaged-tan", "--set", f"multinet={multinet}").stdout
    model = tanbark.load("lenses.tanbark")
    assert "The most probable tree" in said
    shown = plain(run("show", "lenses.tanbark").stdout)
    assert "averaged-tan, the average over all trees" in shown
    trees = model.map_tree_ if multinet else (model.map_tree_,)
    matrices = model.edge_probabilities_ if multinet else (model.edge_probabilities_,)
    for network, matrix in zip(trees, matrices):
        for above, below in network.edges:
            p = matrix[network.names.index(above), network.names.index(below)]
            assert f"─ {below}  {p:.1%}" in shown or (p > 0.999 and f"─ {below}  over 99.9%" in shown)
    assert f"has {model.concentration_:.1%} of these edges on average" in shown


def test_a_table_of_an_average_is_that_of_its_best_tree(run, write, tmp_path):
    write(lenses().frame(), tmp_path / "lenses.csv")
    run("fit", "lenses.csv", "--model", "averaged-tan", "--cv", 0)
    network = tanbark.load("lenses.tanbark").map_tree_
    name = network.edges[0][1]
    said = run("show", "lenses.tanbark", "--table", name).stdout
    assert "in the most probable tree" in said
    for p in network.table(name).ravel():
        assert f"{p:.4f}" in said
    run("fit", "lenses.csv", "--model", "averaged-tan", "--cv", 0, "--set", "multinet=true")
    refused = run("show", "lenses.tanbark", "--table", name, code=1).stderr
    assert "the model has one tree per class" in refused
    assert "no node is named 'oak'" in run("show", "lenses.tanbark", "--table", "oak", code=1).stderr
    assert "P(class)" in run("show", "lenses.tanbark", "--table", "class").stdout


def test_networks_that_vote_show_the_heaviest_vote_and_no_table(run, write, tmp_path):
    write(monks(1).frame(), tmp_path / "monks.csv")
    said = run("fit", "monks.csv", "--model", "boosted-bn", "--set", "base=naive-bayes", "--cv", 0).stdout
    model = tanbark.load("monks.tanbark")
    assert len(model.networks_) > 1
    shown = plain(run("show", "monks.tanbark").stdout)
    for text in (plain(said), shown):
        assert f"{len(model.networks_)} networks; the one with the largest weight:" in text
    assert "--table" not in shown
    assert "the model is not a single network" in run("show", "monks.tanbark", "--table", "class", code=1).stderr


@pytest.mark.parametrize(
    ("weak", "words"),
    [
        ("superparent", "Super-parents and their weights:"),
        ("naive-bayes", "naive Bayes on the"),
        ("tan", "Members of the pool and their weights:\ntree "),
        ("kdb", "k-dependence network, k ="),
    ],
)
def test_a_pool_shows_the_weights_of_what_is_pooled(run, write, tmp_path, weak, words):
    write(monks(1).frame(), tmp_path / "monks.csv")
    said = run("fit", "monks.csv", "--model", "additive-bn", "--set", f"weak={weak}", "--cv", 0).stdout
    model = tanbark.load("monks.tanbark")
    shown = plain(run("show", "monks.tanbark").stdout)
    for text in (plain(said), shown):
        assert words in text
        assert all(f"{w:.4f}" in text for w in model.weights_ if w > 0)
    assert "the model is not a single network" in run("show", "monks.tanbark", "--table", "class", code=1).stderr


def test_a_mean_over_super_parents_says_so(run, write, tmp_path):
    write(monks(1).frame(), tmp_path / "monks.csv")
    words = "An average of networks: in each, one column is the parent of all others."
    assert words in plain(run("fit", "monks.csv", "--model", "aode", "--cv", 0).stdout)
    assert words in plain(run("show", "monks.tanbark").stdout)


@pytest.fixture
def evidence(write, run, table, tmp_path):
    write(table, tmp_path / "t.csv")
    run("fit", "t.csv", "-t", "walk", "--cv", 0)
    return tanbark.load("t.tanbark")


def test_an_additive_model_shows_its_settings_weights_and_edges(run, evidence):
    said = plain(run("show", "t.tanbark").stdout)
    assert "t.tanbark: evidence-bn, the sum of the weighted evidence" in said
    assert "n_bins=64" in said
    assert "evidence, nats" in said
    weights = said.partition("Weight of the evidence of each column alone")[2].splitlines()[1:]
    assert weights[3].startswith("Corrections of single values are added")
    weights = weights[:3]
    names, edges = evidence.schema_.names, evidence.edges_
    for line in weights:
        name, alone, *added = line.split()
        u = names.index(name)
        assert alone == f"{evidence.weights_[0, u]:.2f}"
        above = [parent for parent, child in edges if child == name]
        assert added[::2] == above
        assert added[1::2] == [f"+{evidence.weights_[d, u]:.2f}" for d in range(1, 1 + len(above))]


def test_the_depth_of_an_additive_model_is_shown_with_its_share(run, evidence):
    shares = [0.0, 0.0, 0.0]
    for setting, _, share in evidence.model_.settings:
        if setting is not None:
            shares[setting.depth] += share
    [line] = [line for line in run("show", "t.tanbark").stdout.splitlines() if line.startswith("depth ")]
    assert all(f"{depth} ({share:.0%})" in line for depth, share in enumerate(shares) if share >= 0.005)
    assert f"held-out log loss {min(loss for _, loss, _ in evidence.model_.settings):.3f} nats" in line
    given = ["--set", "depth=1", *(w for name in PENALTIES for w in ("--set", f"{name}=10"))]
    run("fit", "t.csv", "-t", "walk", "--cv", 0, *given)
    [line] = [line for line in plain(run("show", "t.tanbark").stdout).splitlines() if line.startswith("depth ")]
    assert line.split() == ["depth", "1"]


def test_an_additive_model_has_no_probability_table_and_names_a_model_that_does(run, evidence):
    said = run("show", "t.tanbark", "--table", "sky", code=1).stderr
    assert said == (
        "error: the model is not a single network, so there is no table of probabilities for 'sky'; fit with "
        "--model tan\n"
    )


def test_ensembles_show_the_evidence_and_boosted_tables_their_questions(run, write, tmp_path):
    write(monks(1).frame(), tmp_path / "monks.csv")
    run("fit", "monks.csv", "--cv", 0, "--best")
    said = plain(run("show", "monks.tanbark").stdout)
    assert "An ensemble with the weights" in said
    assert "The additive model inside:" in said
    inside = tanbark.load("monks.tanbark").evidence_
    for value in inside.model_.mean_absolute_evidence():
        assert f"{value:.4f}" in said
    _, weights = said.split("The additive model inside:\n")
    assert weights.startswith("Weight of the evidence of each column alone")
    for weight in inside.weights_[0]:
        assert f"{weight:.2f}" in weights
    run("fit", "monks.csv", "--cv", 0, "--model", "boosted-tables")
    said = plain(run("show", "monks.tanbark").stdout)
    for share in tanbark.load("monks.tanbark").model_.question_shares():
        assert f"{share:.4f}" in said
    assert "share: the share of the questions" in said


def test_one_column_has_no_edges_to_show(run, write, tmp_path):
    frame = lenses().frame()
    write(frame.select([frame.column_names[0], frame.column_names[-1]]), tmp_path / "one.csv")
    said = run("fit", "one.csv", "--model", "averaged-tan", "--cv", 0).stdout
    assert "most probable" not in said
    assert "most probable" not in run("show", "one.tanbark").stdout


def test_names_tell_the_terminal_nothing(run):
    """A stranger's file may name a column so that a terminal obeys it."""
    command = "\x1b]0;title\x07\x1b[2J\x9b2J"
    X = pd.DataFrame({f"a{command}": ["x", f"y{command}"] * 4, "b": [0, 0, 1, 1] * 2})
    tanbark.save(tanbark.TAN().fit(X, [f"c{command}", "d"] * 4), "strange.tanbark")
    said = run("show", "strange.tanbark").stdout
    assert not set(said) & {"\x1b", "\x07", "\x9b"}
    assert "a\ufffd]0;title" in said

"""Names with a typing error: the command line asks for the name that was probably meant."""

import json

import pytest

import tanbark


@pytest.fixture
def weather(write, run, table, tmp_path):
    write(table, tmp_path / "t.csv")
    run("fit", "t.csv", "-t", "walk", "-m", "tan", "--cv", 0, "-q")


@pytest.mark.usefixtures("weather")
@pytest.mark.parametrize(
    ("words", "meant", "code"),
    [
        (("ft", "t.csv"), "fit", 2),
        (("fit", "t.csv", "--tagret", "walk"), "--target", 2),
        (("fit", "t.csv", "-t", "walk", "--modle", "tan"), "--model", 2),
        (("--qiet", "fit", "t.csv"), "--quiet", 2),
        (("fit", "t.csv", "-t", "wlak"), "'walk'", 1),
        (("fit", "t.csv", "-t", "walk", "--ignore", "skye"), "'sky'", 1),
        (("fit", "t.csv", "-t", "walk", "--keep", "Wind "), "'wind'", 1),
        (("fit", "t.csv", "-t", "walk", "-m", "averged-tan"), "'averaged-tan'", 1),
        (("fit", "t.csv", "-t", "walk", "-m", "tan", "--set", "critrion=cmi"), "'criterion'", 1),
        (("fit", "t.csv", "-t", "walk", "--bins", "quantil"), "'quantile'", 1),
        (("fit", "t.csv", "-t", "walk", "--dates", "expnd"), "'expand'", 1),
        (("compare", "t.csv", "-t", "walk", "-m", "tan,random-forst"), "'random-forest'", 1),
        (("compare", "t.csv", "-t", "walk", "--by", "logloss-"), None, 0),
        (("compare", "t.csv", "-t", "walk", "--by", "log-los"), "'log_loss'", 1),
        (("evaluate", "t.tanbark", "t.csv", "-t", "walks"), "'walk'", 1),
        (("predict", "t.tanbark", "t.csv", "-t", "walks"), "'walk'", 1),
        (("predict", "t.tanbark", "t.csv", "--to", "jsnl"), "'jsonl'", 1),
        (("show", "t.tanbark", "--table", "degree"), "'degrees'", 1),
        (("export", "t.tanbark", "--to", "bfi"), "'bif'", 1),
        (("reproduce", "sugahara2081"), "'sugahara2018'", 1),
    ],
)
def test_the_most_similar_name_is_suggested(run, words, meant, code):
    if meant is None:
        run(*words, "-m", "tan", "--folds", 2)
        return
    assert f"; did you mean {meant}?" in run(*words, code=code).stderr


@pytest.mark.usefixtures("weather")
def test_without_a_similar_name_all_are_listed(run):
    assert "it has 'sky', 'wind', 'degrees', 'walk'" in run("fit", "t.csv", "-t", "outcome", code=1).stderr
    assert "the models are evidence-bn, " in run("fit", "t.csv", "-t", "walk", "-m", "xyz", code=1).stderr


@pytest.mark.usefixtures("weather")
@pytest.mark.parametrize("name", ["TAN", "averaged_tan", "AveragedTAN", "Naive-Bayes", "NaiveBayes"])
def test_a_model_may_be_named_by_its_class_and_in_any_case(run, name):
    told = json.loads(run("fit", "t.csv", "-t", "walk", "-m", name, "--cv", 0, "--json").stdout)
    assert (
        told["model"]
        == {"tan": "tan", "a": "averaged-tan", "n": "naive-bayes"}["tan" if name == "TAN" else name[0].lower()]
    )
    compared = json.loads(run("compare", "t.csv", "-t", "walk", "-m", name, "--folds", 2, "--json").stdout)
    assert [rank["name"] for rank in compared["ranking"]] == [told["model"]]


def test_every_classifier_can_be_named_by_its_class():
    from tanbark.classifiers.registry import REGISTRY
    from tanbark.cli.input.options import named_model

    for name, entry in REGISTRY.items():
        for given in (entry.classifier.__name__, entry.classifier.__name__.lower(), name.upper()):
            assert named_model(given, REGISTRY) == name


@pytest.mark.usefixtures("weather")
def test_parameters_and_values_of_options_may_be_in_any_case(run):
    words = ("--set", "Structure=None", "--bins", "MDLP", "--dates", "Number")
    run("fit", "t.csv", "-t", "walk", "-m", "kdb", "--set", "K=1", *words[2:], "--cv", 0)
    assert tanbark.load("t.tanbark").k == 1
    run("fit", "t.csv", "-t", "walk", "-m", "evidence-bn", *words[:2], "--cv", 0)

"""A class that is a number: refused if it has many values, or cut into intervals with --bin-target."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tanbark


@pytest.fixture
def houses(tmp_path):
    """Write houses with a price that depends on the rooms, a stock of 40 whole numbers, and a rating of 5."""
    rng = np.random.default_rng(0)
    rooms = rng.integers(1, 6, 200)
    frame = pd.DataFrame(
        {
            "rooms": rooms,
            "city": rng.choice(list("pqr"), 200),
            "price": (50.0 * rooms + rng.normal(0, 20, 200)).round(2),
            "stock": np.arange(200) % 40,
            "rating": np.arange(200) % 5 + 1,
        }
    )
    frame.to_csv(tmp_path / "houses.csv", index=False)
    frame.to_parquet(tmp_path / "houses.parquet")
    return frame


@pytest.mark.parametrize("name", ["houses.csv", "houses.parquet"])
@pytest.mark.parametrize(("target", "n_values"), [("price", None), ("stock", 40)])
@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_number_with_many_values_is_refused_with_the_way_out(run, houses, command, target, n_values, name):
    n_values = n_values or houses["price"].nunique()
    error = run(command, name, "-t", target, code=1).stderr
    assert error.startswith(f"error: the class '{target}' is a number with {n_values} different values, not a label; ")
    assert f"--bin-target 4, or use --categorical {target} if each value is a class" in error
    assert not list(Path().glob("*.tanbark"))
    assert not list(Path().glob("*.html"))


@pytest.mark.usefixtures("houses")
def test_integers_with_few_values_and_columns_named_as_categorical_are_classes(run):
    run("fit", "houses.csv", "-t", "rating", "--cv", 0, "-m", "tan")
    assert tanbark.load("houses.tanbark").classes_.tolist() == [1, 2, 3, 4, 5]
    run("fit", "houses.csv", "-t", "stock", "--categorical", "stock", "--cv", 0, "-m", "tan")
    assert len(tanbark.load("houses.tanbark").classes_) == 40


@pytest.mark.parametrize("name", ["houses.csv", "houses.parquet"])
@pytest.mark.parametrize("target", ["price", "stock"])
def test_the_classes_are_the_quantile_intervals_of_pandas_in_order(run, houses, target, name):
    run("fit", name, "-t", target, "--bin-target", 4, "--cv", 0, "-m", "tan")
    model = tanbark.load("houses.tanbark")
    cuts = np.quantile(houses[target], [0.25, 0.5, 0.75], method="inverted_cdf")
    intervals = pd.cut(houses[target], [-np.inf, *cuts, np.inf], labels=False)
    assert model.counts_.class_counts.tolist() == intervals.value_counts(sort=False).sort_index().tolist()
    first, second, third = (f"{cut:g}" for cut in cuts)
    expected = [f"<= {first}", f"({first}, {second}]", f"({second}, {third}]", f"> {third}"]
    assert model.classes_.tolist() == expected
    assert model.schema_.recipe.class_cuts == tuple(cuts)


def test_later_rows_are_cut_at_the_same_points(run, houses, tmp_path):
    run("fit", "houses.csv", "-t", "price", "--bin-target", 3, "--cv", 0, "-m", "tan")
    model = tanbark.load("houses.tanbark")
    low, high = model.schema_.recipe.class_cuts
    new = houses[houses["price"] < 150].copy()
    new.to_csv("new.csv", index=False)
    found = json.loads(run("evaluate", "houses.tanbark", "new.csv", "--json").stdout)
    expected = [(new["price"] <= low).sum(), new["price"].between(low, high, inclusive="right").sum()]
    assert [each["rows"] for each in found["classes"]][:2] == expected
    predicted = json.loads(run("predict", "houses.tanbark", "new.csv", "-o", "p.csv", "--json").stdout)
    assert predicted["accuracy"] == found["accuracy"]["mean"]
    # The predicted intervals can be evaluated as they are written.
    pd.read_csv("p.csv").drop(columns="price").to_csv("own.csv", index=False)
    own = json.loads(run("evaluate", "houses.tanbark", "own.csv", "-t", "prediction", "--json").stdout)
    assert own["accuracy"]["mean"] == 1.0
    run("update", "houses.tanbark", "new.csv", "-q")
    grown = tanbark.load("houses.tanbark").counts_.class_counts
    assert (grown - model.counts_.class_counts).tolist() == [each["rows"] for each in found["classes"]]
    (tmp_path / "bad.csv").write_text("rooms,city,price,stock,rating\n3,p,cheap,1,1\n")
    error = run("evaluate", "houses.tanbark", "bad.csv", code=1).stderr
    assert error.startswith("error: column 'price' holds 'cheap' in row 1, but the model expects numbers")


@pytest.mark.usefixtures("houses")
def test_the_report_and_the_comparison_name_the_intervals_in_order(run):
    run("fit", "houses.csv", "-t", "price", "--bin-target", 3, "--cv", 3, "-m", "tan", "--report", "page.html")
    first, second, third = tanbark.load("houses.tanbark").classes_
    page = Path("page.html").read_text().replace("&lt;", "<").replace("&gt;", ">")
    heads = page.partition("true \\ predicted")[2]
    assert heads.index(f">{first}<") < heads.index(f">{second}<") < heads.index(f">{third}<")
    shown = run("compare", "houses.csv", "-t", "price", "--bin-target", 3, "-m", "tan", "--folds", 3).stdout
    assert "200 rows, 3 classes of price" in shown
    assert "tanbark fit houses.csv --target price --model tan --bin-target 3" in shown


def test_a_decimal_comma_currencies_and_missing_prices_are_read(run, tmp_path):
    prices = [f"{i},50" for i in range(60)]
    rows = [f"{i % 3};{price if i % 7 else 'n.k.'}" for i, price in enumerate(prices)]
    (tmp_path / "t.csv").write_text("\n".join(["a;price", *rows]))
    words = ("t.csv", "-t", "price", "--bin-target", 2, "--cv", 0, "--missing", "n.k.")
    run("fit", *words, "--decimal", ",")
    model = tanbark.load("t.tanbark")
    known = sorted(i + 0.5 for i in range(60) if i % 7)
    assert model.schema_.recipe.class_cuts == (known[(len(known) + 1) // 2 - 1],)
    assert model.counts_.class_counts.sum() == len(known)
    found = json.loads(run("evaluate", "t.tanbark", "t.csv", "--missing", "n.k.", "--json").stdout)
    assert (found["rows"], found["unlabelled"]) == (len(known), 60 - len(known))


@pytest.mark.usefixtures("houses")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-t", "city", "--bin-target", 3), "--bin-target needs a numeric class, but 'city' holds text"),
        (("-t", "price", "--bin-target", 1), "--bin-target must be from 2 to 30, got 1"),
        (("-t", "stock", "--bin-target", 3, "--categorical", "stock"), "--bin-target and --categorical both name"),
    ],
)
def test_a_class_that_cannot_be_cut_gets_one_sentence(run, words, sentence):
    for command in ("fit", "compare"):
        assert sentence in run(command, "houses.csv", *words, code=1).stderr
    assert not list(Path().glob("*.tanbark"))


def test_equal_values_leave_fewer_classes_or_none(run, tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *(f"{i % 3},{max(i - 70, 0) / 4}" for i in range(100))]))
    shown = run("fit", "t.csv", "-t", "y", "--bin-target", 4, "--cv", 0).stdout
    assert "note: the class 'y' has so many equal values that --bin-target gives 3 classes" in shown
    assert tanbark.load("t.tanbark").classes_.tolist() == ["<= 0", "(0, 1]", "> 1"]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *(f"{i % 3},1.5" for i in range(100))]))
    error = run("fit", "t.csv", "-t", "y", "--bin-target", 4, code=1).stderr
    assert "because nearly all of its values are equal" in error


@pytest.mark.usefixtures("houses")
def test_a_streamed_table_is_refused_too_and_read_into_memory_to_be_cut(run, monkeypatch):
    monkeypatch.setattr("tanbark.cli.input.fit_from_rows.MAX_BYTES_IN_MEMORY", 1)
    error = run("fit", "houses.parquet", "-t", "stock", "-m", "tan", code=1).stderr
    assert error.startswith("error: the class 'stock' is a number with 40 different values")
    run("fit", "houses.parquet", "-t", "price", "-m", "tan", "--bin-target", 4)
    assert len(tanbark.load("houses.tanbark").classes_) == 4


def test_schema_shows_the_columns_beside_a_numeric_class(run, houses):
    said = run("schema", "houses.csv", "-t", "price").stdout
    assert "'price' holds numbers rather than labels" in said
    assert "tanbark fit --bin-target 4" in said
    assert "city" in said


def test_a_class_with_decimal_commas_is_refused_until_it_is_read_as_numbers(run, houses):
    houses.to_csv("comma.csv", sep=";", decimal=",", index=False)
    error = run("fit", "comma.csv", "-t", "price", "-m", "tan", code=1).stderr
    assert error == "error: the class 'price' holds numbers with a decimal comma; read them with --decimal ,\n"
    run("fit", "comma.csv", "-t", "price", "-m", "tan", "--decimal", ",", "--bin-target", "3", "-o", "comma.tanbark")
    assert len(tanbark.load("comma.tanbark").classes_) == 3


def test_the_baseline_of_classes_that_are_equally_frequent_is_the_same_everywhere(run, houses):
    del houses
    words = ["houses.csv", "-t", "price", "-m", "tan", "--bin-target", "4", "-o", "m.tanbark", "--json"]
    fitted = json.loads(run("fit", *words).stdout)["cross_validation"]["baseline"]["class"]
    assert json.loads(run("evaluate", "m.tanbark", "houses.csv", "--json").stdout)["baseline"]["class"] == fitted


@pytest.mark.parametrize("model", ["tan", "evidence-bn"])
def test_further_numbers_must_be_cut_in_python(run, houses, model):
    run("fit", "houses.csv", "-t", "price", "-m", model, "--bin-target", "3", "--cv", "0", "-o", "m.tanbark")
    fitted = tanbark.load("m.tanbark")
    learn = fitted.partial_fit if model == "tan" else fitted.update
    X, price = houses.drop(columns="price"), houses["price"]
    with pytest.raises(ValueError, match=r"the classes are intervals of a number, .* pass schema_.recipe.intervals_of"):
        learn(X, price)
    learn(X, fitted.schema_.recipe.intervals_of(price))
    assert fitted.counts_.class_counts.sum() == 400


def test_names_of_the_target_option_that_users_expect_are_suggested(run, houses):
    del houses
    assert (
        "no such option --class; did you mean --target?" in run("fit", "houses.csv", "--class", "price", code=2).stderr
    )

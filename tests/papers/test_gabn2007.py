"""The evaluation of the claims by wins and losses, and the records of a cell."""

from tanbark import AdditiveBN, Encoder, datasets
from tanbark.papers import gabn2007
from tanbark.papers.experiment_cells import Cell, Done
from tanbark.papers.samples import labelled

LOW, MIDDLE, HIGH = [0.10, 0.11, 0.12], [0.20, 0.22, 0.23], [0.31, 0.30, 0.33]


def made_up(file, errors):
    size = {"rows": 99, "attributes": 4, "classes": 3}
    return [
        Done(Cell(file, part, 3), [size, *({"method": m, "error": e[part]} for m, e in errors.items())], 0.0)
        for part in range(3)
    ]


def test_a_claim_holds_if_there_are_more_wins_than_losses():
    others = dict.fromkeys(gabn2007.METHODS, HIGH)
    results = {
        "iris": made_up("iris", {**others, "GABN": MIDDLE, "BBN": LOW}),
        "wine": made_up("wine", {**others, "GABN": MIDDLE, "KDB": LOW, "BBN": MIDDLE}),
    }
    claims, errors, ranks, *drawings, sizes = gabn2007.report(results)
    assert [row[1:] for row in claims.rows] == [
        ["NB 2/0/0, TAN 2/0/0, K2 2/0/0, KDB 1/0/1", "no"],
        ["BBN 0/1/1", "no"],
        ["SPBN 2/0/0", "yes"],
    ]
    assert errors.rows[0][1] == "31.33 ±0.88"
    assert errors.rows[2][-1] == "21.67"
    # BBN is the best of iris, and shares the second place with GABN on wine.
    at = list(gabn2007.METHODS).index
    assert ranks.rows[0][1 + at("BBN")] == "1.75"
    assert ranks.rows[0][1 + at("GABN")] == "2.25"
    assert len(drawings) == len(others)
    assert [row[2:5] for row in sizes.rows] == [["99", "4", "3"]] * 2
    assert all(drawing.svg.startswith("<svg") for drawing in drawings)


def test_a_cell_has_every_method(folder):
    data = datasets.read_folder(folder)["car_evaluation"]
    records = gabn2007.run(data, Cell("car_evaluation", 0, 5))
    assert records[0] == {"rows": 625, "attributes": 4, "classes": 3}
    found = {record["method"]: record["error"] for record in records[1:]}
    assert set(found) == set(gabn2007.METHODS)
    assert all(0 <= error <= 0.6 for error in found.values())
    train, test = labelled(data).fold(0, 5)
    model = AdditiveBN(encoder=Encoder(bins="mdlp"), parameters="laplace", held_out=False)
    wrong = model.fit(train.table, train.classes).predict(test.table) != test.classes
    assert found["GABN"] == wrong.mean()


def test_a_method_that_fails_is_excluded_from_tests_over_data_sets(folder, monkeypatch):
    def broken(_train):
        raise ValueError("out of range")

    monkeypatch.setitem(gabn2007.METHODS, "CART", broken)
    data = datasets.read_folder(folder)["car_evaluation"]
    cells = [Cell("car_evaluation", part, 2) for part in range(2)]
    results = {"car_evaluation": [Done(c, gabn2007.run(data, c), 0.0) for c in cells]}
    claims, errors, _ = gabn2007.report(results)
    assert errors.rows[0][list(gabn2007.METHODS).index("CART") + 1] == "failed: ValueError: out of range"
    assert len(claims.rows) == 3
    for one in results["car_evaluation"]:
        one.records[:] = [r for r in one.records if r.get("method") != "BBN"]
    assert gabn2007.report(results)[0].rows[1][1:] == ["BBN 0/0/0", "not tested"]

"""The orders of rows, the figures of both learners, and the report."""

import numpy as np
import pytest

from tanbark import datasets
from tanbark.papers import roure2002
from tanbark.papers.experiment_cells import Cell, Done


def test_each_row_is_followed_by_the_nearest_or_the_farthest():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (4, 40)).astype(np.uint8)
    y = rng.integers(0, 2, 40)
    whole = np.vstack([codes, y])
    for order, best in (("similar", min), ("dissimilar", max)):
        sequence = roure2002._sequence(codes, y, order)
        assert sorted(sequence) == list(range(40))
        assert sequence[0] == 0
        for step in range(39):
            rest = sequence[step + 1 :]
            distance = (whole[:, rest] != whole[:, [sequence[step]]]).sum(axis=0)
            assert distance[0] == best(distance)
    assert roure2002._sequence(codes, y, "random").tolist() == list(range(40))


@pytest.fixture(scope="module")
def results(folder):
    data = datasets.read_folder(folder)["car_evaluation"]
    cells = [Cell("car_evaluation", part, 3) for part in range(3)]
    return {"car_evaluation": [Done(cell, roure2002.run(data, cell), 0.0) for cell in cells]}


def test_the_batch_learner_ends_with_the_tree_of_all_rows(results):
    runs = [done.records for done in results["car_evaluation"]]
    assert [(run[0]["order"], run[0]["repeat"]) for run in runs] == [(order, 0) for order in roure2002.ORDERS]
    for run in runs:
        assert [step["rows"] for step in run] == [100, 200, 300, 400]
        assert run[0]["aco_calculated"] == run[0]["batch_calculated"]
        assert all(step["aco_calculated"] <= step["batch_calculated"] for step in run)
        assert run[-1]["batch_accuracy"] == pytest.approx(run[-1]["aco_accuracy"], abs=0.1)
        # Four attributes: six weights, and 2*2 + 3*1 comparisons, for every chunk of the batch learner.
        assert sum(step["batch_calculated"] for step in run) == 4 * 6
        assert sum(step["batch_recalled"] for step in run) == 4 * 7


def test_the_report_has_the_papers_table_next_to_ours(results):
    work, trees, curves = roure2002.report(results)
    assert [row[:2] for row in work.rows] == [["Car", order] for order in roure2002.ORDERS]
    assert work.rows[0][2] == "24"
    assert work.rows[0][4] == "88"
    assert len(trees.rows) == 3
    assert len(curves.rows) == 3 * 4


def test_the_batch_learner_calculates_and_recalls_as_many_weights_on_car_as_in_the_paper(read_text):
    cells, y, names = read_text("car_evaluation")
    data = datasets.Dataset.from_columns("car", dict(zip(names[:-1], cells.T, strict=True)), y, source="-")
    steps = roure2002.run(data, Cell("car_evaluation", 0, 15))
    assert sum(step["batch_calculated"] for step in steps) == 11 * 15
    assert sum(step["batch_recalled"] for step in steps) == 330

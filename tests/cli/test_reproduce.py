"""The command that runs a paper's experiment again."""

import csv
from pathlib import Path

import numpy as np
import pytest

from tanbark import datasets
from tanbark.papers import roure2002

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture
def folder(tmp_path):
    """A folder that has one of the paper's data sets by name, made of another table."""
    rng = np.random.default_rng(0)
    rows = datasets.balance_scale().frame().to_pylist() * 2
    lines = [",".join(str(v) for v in rows[at].values()) for at in rng.permutation(len(rows))]
    (tmp_path / "car_evaluation.csv").write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    return tmp_path


def test_the_papers_table_stands_beside_ours(run, folder, tmp_path):
    result = run("reproduce", "roure2002", "--data", folder, "--quick", "-o", tmp_path / "chunks.csv")
    assert result.exit_code == 0, result.output
    assert "absent" in result.output
    assert "nursery" in result.output
    for words in ("Table 1", "Car", "random", "similar", "dissimilar", "88", "same tree", "Figures 1 and 2"):
        assert words in result.output
    with open(tmp_path / "chunks.csv") as file:
        found = list(csv.DictReader(file))
    assert len(found) == 3 * 2 * 8
    # Four attributes: six weights, and 2*2 + 3*1 comparisons, for every chunk of the batch learner.
    assert {(row["batch_calculated"], row["batch_recalled"]) for row in found} == {("6", "7")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["roure2003"], "there is no paper 'roure2003'; there are roure2002"),
        (["roure2002", "--only", "iris"], "roure2002 has no data set 'iris'; it has adult, nursery"),
        (["roure2002", "--data", "nowhere"], "there is no folder 'nowhere'"),
        (["roure2002", "--only", "adult"], "has none of the data sets 'adult'; each is a file such as adult.csv"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(run, folder, arguments, message):
    given = arguments if "--data" in arguments else [*arguments, "--data", folder]
    result = run("reproduce", *given, code=1)
    assert message in " ".join(result.output.split())


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


def test_the_batch_learner_ends_with_the_tree_of_all_rows(folder):
    data = datasets.read_folder(folder)
    runs = list(roure2002.runs(data, ("car_evaluation",), repeats=1))
    assert [run.order for run in runs] == ["random", "similar", "dissimilar"]
    for run in runs:
        assert [step.rows for step in run.steps] == list(range(100, 801, 100))
        assert run.steps[0].aco == run.steps[0].batch
        assert all(step.aco.calculated <= step.batch.calculated for step in run.steps)
        assert run.steps[-1].batch_accuracy == pytest.approx(run.steps[-1].aco_accuracy, abs=0.1)
        assert run.total("batch", "calculated") == 8 * 6


def test_the_batch_learners_work_on_car_is_the_papers():
    if not DATA.is_dir():
        pytest.skip(f"{DATA} is absent: the tables stand beside the repository, in shared/data")
    data = datasets.read_folder(DATA)
    for run in roure2002.runs(data, ("car_evaluation",), repeats=1):
        assert run.total("batch", "calculated") == 11 * 15
        assert run.total("batch", "recalled") == 330

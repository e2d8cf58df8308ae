"""onnxruntime computes the same probabilities as Python."""

import sys
import time
from contextlib import nullcontext

import numpy as np
import pytest

from tanbark import AODE, KDB, TAN, BayesNet, Category, Encoder, EvidenceBN, Network, Number, Schema, export
from tanbark.classifiers.registry import REGISTRY
from tanbark.datasets import lenses
from tanbark.export import needs_complete_rows
from tanbark.network import Structure

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

REFUSED = {"averaged-tan", "additive-bn", "boosted-bn", "boosted-tables", "ensemble-bn"}


def table(seed, rows, missing):
    """Return a table of mixed types with a share of missing values, and classes that depend on it."""
    rng = np.random.default_rng(seed)
    cells = np.empty((rows, 5), object)
    y = rng.integers(0, 3, rows)
    cells[:, 0] = np.array(["red", "green", "blau, grün", "日本"])[(rng.integers(0, 4, rows) + y) % 4]
    cells[:, 1] = (rng.normal(size=rows) + y).round(1)
    cells[:, 2] = rng.integers(0, 5, rows) * (y > 0)
    cells[:, 3] = rng.random(rows) < 0.2 + 0.3 * y
    cells[:, 4] = np.array(["a", "b"])[rng.integers(0, 2, rows)]
    cells[rng.random(cells.shape) < missing] = None
    return cells, y


def session(made):
    onnx.checker.check_model(made, full_check=True)
    return onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])


def fed(running, X):
    """Return the inputs for a table."""
    feed = {}
    for node, values in zip(running.get_inputs(), np.asarray(X, object).T, strict=True):
        if node.type == "tensor(string)":
            feed[node.name] = np.array(["" if v is None else v for v in values], object).reshape(-1, 1)
        else:
            feed[node.name] = np.array([np.nan if v is None else float(v) for v in values]).reshape(-1, 1)
    return feed


def answers(model, X):
    running = session(export.onnx(model))
    return running.run(None, fed(running, X))


def same_answers(model, X):
    label, probabilities = answers(model, X)
    expected = model.predict_proba(X)
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=1e-12)
    # Rounding errors decide between classes that are equally probable.
    is_tied = np.diff(np.sort(expected, axis=1)[:, -2:]).ravel() < 1e-12
    assert label[~is_tied].tolist() == model.predict(X)[~is_tied].tolist()


@pytest.mark.parametrize("name", sorted(set(REGISTRY) - REFUSED))
def test_every_model_predicts_as_in_python(name):
    X, y = table(0, 300, 0.1)
    model = REGISTRY[name].classifier().fit(X, y)
    missing = 0.0 if needs_complete_rows(model) else 0.3
    further, _ = table(1, 100, missing)
    if missing:
        further[:5, 0] = "never seen"
        further[5:10, 2] = 77
        further[10] = None
    same_answers(model, further)


@pytest.mark.parametrize("name", ["naive-bayes", "tan", "forest-an", "super-parent", "aode"])
@pytest.mark.parametrize("settings", ["ml", "prior", "state", "few levels"])
def test_other_settings_predict_as_in_python(name, settings):
    X, y = table(2, 40, 0.2)
    given = {
        "ml": {"parameters": "ml"},
        "prior": {"class_prior": [0.7, 0.1, 0.2]},
        "state": {"encoder": Encoder(missing="state")},
        "few levels": {"encoder": Encoder(max_levels=2)},
    }[settings]
    with pytest.warns(UserWarning, match="levels") if settings == "few levels" else nullcontext():
        model = REGISTRY[name].classifier(**given).fit(X, y)
    further, _ = table(3, 200, 0.2)
    further[:9, 0] = "never seen"
    same_answers(model, further)


@pytest.mark.parametrize(
    "settings",
    [
        {"depth": 0},
        {"depth": 1, "structure": [("x2", "x0"), ("x1", "x3"), ("x2", "x1")]},
        {"depth": 2, "structure": [("x0", "x3"), ("x1", "x3"), ("x0", "x1")], "class_prior": [0.7, 0.1, 0.2]},
        {"encoder": Encoder(missing="marginalize")},
        {"encoder": Encoder(max_levels=3)},
    ],
)
def test_weighted_evidence_predicts_as_in_python_in_every_context(settings):
    X, y = table(7, 150, 0.2)
    penalties = {"weight_penalty": 1.0, "correction_penalty": 1.0, "edge_penalty": 1.0}
    with pytest.warns(UserWarning, match="levels") if "max_levels=3" in str(settings) else nullcontext():
        model = EvidenceBN(**penalties, **settings).fit(X, y)
    assert not needs_complete_rows(model)
    further, _ = table(8, 200, 0.3)
    further[:9, 0] = "never seen"
    further[5:15, 2] = 77
    further[15] = None
    same_answers(model, further)


def test_a_row_that_is_impossible_under_every_class_gets_the_prior():
    X = np.array([["a", "p"], ["b", "q"], ["a", "p"]], object)
    model = TAN(parameters="ml").fit(X, ["no", "yes", "no"])
    _, probabilities = answers(model, [["a", "q"], ["b", "p"], ["b", "q"]])
    np.testing.assert_allclose(probabilities, [[2 / 3, 1 / 3], [2 / 3, 1 / 3], [0, 1]], rtol=0, atol=1e-15)


def test_numbers_lie_on_the_same_side_of_a_cut():
    cuts = (-1.5, 0.1, float(np.nextafter(0.1, 1)), 1e10)
    schema = Schema([Number("x", cuts)], (0, 1, 2, 3, 4))
    sure = np.where(np.eye(5, dtype=bool), 0.0, -np.inf)
    network = Network(schema, Structure.augmented((-1,)), (sure, np.log([0.1, 0.2, 0.3, 0.15, 0.25])))
    running = session(export.onnx(network))
    values = [v for cut in cuts for v in (np.nextafter(cut, -np.inf), cut, np.nextafter(cut, np.inf))]
    label, _ = running.run(None, {"x": np.array(values)[:, None]})
    assert label.tolist() == np.searchsorted(cuts, values).tolist()
    label, probabilities = running.run(None, {"x": np.array([[-np.inf], [np.inf], [np.nan]])})
    assert label.tolist() == [0, 4, 2]
    np.testing.assert_allclose(probabilities[2], [0.1, 0.2, 0.3, 0.15, 0.25])


@pytest.mark.parametrize("model", [KDB(k=2), BayesNet(required=[("x0", "x1"), ("x2", "x1")])])
def test_a_network_that_is_not_a_tree_refuses_rows_with_missing_values(model):
    X, y = lenses()
    model.fit(X, y)
    assert needs_complete_rows(model)
    running = session(export.onnx(model))
    same_answers(model, X)
    for strange in (None, "never seen"):
        row = X[:3].copy()
        row[1, 2] = strange
        with pytest.raises(
            Exception, match="column 'x2' has a missing or unseen value; this network needs complete rows"
        ):
            running.run(None, fed(running, row))


@pytest.mark.parametrize("model", [estimator(encoder=Encoder(unseen="error")) for estimator in (TAN, AODE, EvidenceBN)])
def test_unseen_values_are_refused_if_the_encoder_raises_on_them(model):
    X, y = table(4, 100, 0.0)
    running = session(export.onnx(model.fit(X, y)))
    lacking, _ = table(5, 20, 0.3)
    _, probabilities = running.run(None, fed(running, lacking))
    np.testing.assert_allclose(probabilities, model.predict_proba(lacking), rtol=0, atol=1e-12)
    for column, value in ((0, "never seen"), (2, 77)):
        strange = X[:2].copy()
        strange[1, column] = value
        with pytest.raises(Exception, match=f"column 'x{column}' has a value that was not seen in training"):
            running.run(None, fed(running, strange))


def test_a_class_prior_is_used_for_a_network_whose_class_has_parents():
    X, y = lenses()
    model = BayesNet(class_prior=[0.2, 0.3, 0.5], required=[("x3", "class")]).fit(X, y)
    same_answers(model, X)


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        (["p", "q"], "tensor(string)"),
        ([3, -4], "tensor(int64)"),
        ([False, True], "tensor(int64)"),
        ([0.5, 1.5], "tensor(double)"),
        ([2**70, 1], "tensor(double)"),
    ],
)
def test_labels_have_the_type_of_the_classes(classes, kind):
    schema = Schema([Category("x", ("a", "b"))], tuple(classes))
    tables = (np.log([[0.9, 0.1], [0.2, 0.8]]), np.log([0.5, 0.5]))
    running = session(export.onnx(Network(schema, Structure.augmented((-1,)), tables)))
    assert [(o.name, o.type) for o in running.get_outputs()] == [("label", kind), ("probabilities", "tensor(double)")]
    label, _ = running.run(None, {"x": np.array([["a"], ["b"]], object)})
    assert label.tolist() == classes


def test_any_name_can_be_an_input(networks):
    network = networks["hostile"]
    running = session(export.onnx(network))
    names = [node.name for node in running.get_inputs()]
    assert [name for name in names if name != "_"] == [name for name in network.names[:-1] if name]
    renamed = Schema([Category(n, ("a", "b")) for n in ("label", "label_", "", "t0", "probabilities")], ("p", "q"))
    tables = (*[np.log([[0.9, 0.1], [0.2, 0.8]])] * 5, np.log([0.5, 0.5]))
    running = session(export.onnx(Network(renamed, Structure.augmented((-1,) * 5), tables)))
    assert [node.name for node in running.get_inputs()] == ["label__", "label_", "_", "t0", "probabilities_"]
    assert running.run(None, fed(running, [["a"] * 5]))[0].tolist() == ["p"]


def test_a_batch_equals_its_rows_one_by_one_and_may_be_empty():
    X, y = table(6, 50, 0.2)
    running = session(export.onnx(AODE().fit(X, y)))
    _, together = running.run(None, fed(running, X))
    apart = [running.run(None, fed(running, X[i : i + 1]))[1][0] for i in range(len(X))]
    np.testing.assert_allclose(together, apart, rtol=1e-14)
    assert running.run(None, fed(running, X[:0]))[1].shape == (0, 3)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_models_that_onnx_cannot_express_are_refused_with_the_reason(name, tmp_path):
    X, y = lenses()
    model = REGISTRY[name].classifier().fit(X, y)
    with pytest.raises(ValueError, match=type(model).__name__):
        export.onnx(model, tmp_path / "x.onnx")
    assert not (tmp_path / "x.onnx").exists()


def test_levels_that_onnx_cannot_distinguish_are_refused():
    for levels, message in (
        ((1, "a"), "column 'x' has both text and numbers"),
        (("\ud800", "a"), "a lone surrogate"),
        (("", "a"), "column 'x' has the empty string as a level, which is a missing value in ONNX"),
        ((2**53, 2**53 + 1), "column 'x' has integers so large that two of them become the same double"),
    ):
        schema = Schema([Category("x", levels)], (0, 1))
        tables = (np.log([[0.9, 0.1], [0.2, 0.8]]), np.log([0.5, 0.5]))
        with pytest.raises(ValueError, match=message):
            export.onnx(Network(schema, Structure.augmented((-1,)), tables))


@pytest.mark.parametrize("model", [TAN(), AODE(), KDB(k=2)])
def test_sixty_columns_of_ten_levels_are_exported_within_two_seconds(model, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (200, 60))
    model.fit(X, rng.integers(0, 3, 200))
    begin = time.perf_counter()
    export.onnx(model, tmp_path / "wide.onnx")
    assert time.perf_counter() - begin < 2
    running = onnxruntime.InferenceSession(tmp_path / "wide.onnx", providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(running.run(None, fed(running, X))[1], model.predict_proba(X), rtol=0, atol=1e-12)


def test_without_onnx_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(
        ImportError, match=r"exporting to ONNX requires the package onnx: pip install 'tanbark\[onnx\]'"
    ):
        export.onnx(TAN().fit(*lenses()))

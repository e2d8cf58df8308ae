"""Layouts and drawings of networks: nodes do not overlap, edges lead to the right, and names are escaped."""

from itertools import combinations
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import TAN, AveragedTAN, Network
from tanbark.datasets import lenses
from tanbark.drawing.layout import class_above_all, layout, shown_edges
from tanbark.drawing.network_pictures import picture
from tanbark.network import Structure

matplotlib.use("agg")

HOSTILE = '<script>alert(1)</script>" onload="x\n&$_{^'


@st.composite
def structures(draw):
    nodes = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    order = rng.permutation(nodes)
    share = draw(st.sampled_from([0.0, 0.1, 0.3, 0.8]))
    parents = [()] * nodes
    for at, node in enumerate(order):
        parents[node] = tuple(int(p) for p in order[:at] if rng.random() < share)
    if draw(st.booleans()):
        parents = [(*(p for p in above if p != nodes - 1), nodes - 1) for above in parents[:-1]] + [()]
    return Structure(tuple(parents))


@given(structures())
@settings(max_examples=150, deadline=None)
def test_nodes_do_not_overlap_and_edges_lead_to_the_right(structure):
    arranged = layout(structure)
    for (x, y), (u, v) in combinations(arranged.places, 2):
        assert x != u or abs(y - v) > 1 - 1e-9
    layers, rows = arranged.size
    for x, y in (*arranged.places, *(point for points in arranged.edges.values() for point in points)):
        assert 0 <= x <= layers - 1
        assert 0 <= y < rows
    assert set(arranged.edges) == set(shown_edges(structure))
    for (parent, child), points in arranged.edges.items():
        assert points[0] == arranged.places[parent]
        assert points[-1] == arranged.places[child]
        point_layers = [x for x, _ in points]
        assert point_layers == sorted(set(point_layers))


@given(st.lists(st.integers(0, 100), max_size=30))
@settings(max_examples=100, deadline=None)
def test_a_parent_in_a_tree_is_placed_beside_the_middle_of_its_children(numbers):
    parent = [-1, *(p % (u + 1) for u, p in enumerate(numbers))]
    places = layout(Structure.augmented(parent)).places
    for node, (x, y) in enumerate(places[:-1]):
        children = [places[u] for u, p in enumerate(parent) if p == node]
        if children:
            rows = [row for _, row in children]
            assert y == (min(rows) + max(rows)) / 2
            assert {layer for layer, _ in children} == {x + 1}
    crossings = [(a, b) for a, b in combinations(shown_edges(Structure.augmented(parent)), 2) if _cross(places, a, b)]
    assert not crossings


def _cross(places, a, b):
    (p, u), (q, v) = a, b
    if places[p][0] != places[q][0] or p == q:
        return False
    return (places[p][1] - places[q][1]) * (places[u][1] - places[v][1]) < 0


def test_edges_of_a_class_above_all_attributes_are_left_out():
    structure = Structure.augmented((-1, 0))
    assert class_above_all(structure)
    assert shown_edges(structure) == [(0, 1)]
    assert not class_above_all(Structure(((), (0,))))


def test_hundreds_of_attributes_are_laid_out():
    rng = np.random.default_rng(0)
    parents = [(*sorted({int(p) for p in rng.integers(0, u, min(u, 2))}), 500) for u in range(500)]
    assert len(layout(Structure((*parents, ()))).places) == 501


def test_a_drawing_is_well_formed_for_hostile_names():
    structure = Structure(((2,), (0, 2), ()))
    drawing = picture([HOSTILE, "", "c"], structure, {(0, 1): float("nan")}, {(0, 1): HOSTILE}, [0.5], {(0, 1): 0.2})
    root = ElementTree.fromstring(drawing)
    titles = [node.text for node in root.iter("title")]
    assert titles.count(HOSTILE) == 3
    assert not list(root.iter("script"))
    assert sum(node.get("class") == "node" for node in root.iter("g")) == 3


def test_the_strongest_drawn_edge_is_the_widest():
    structure = Structure.augmented((-1, 0, 0, 0))
    drawing = picture("abcde", structure, {(0, 1): 0.1, (0, 2): 0.4, (0, 3): 0.0, (4, 1): 9.0}, {})
    widths = {
        line.get("data-edge"): float(line.get("stroke-width")) for line in ElementTree.fromstring(drawing).iter("path")
    }
    # The edge from the class is not drawn and does not affect the widths.
    assert widths["0 2"] == 7 > widths["0 1"] > widths["0 3"] > 0


def test_notebooks_display_a_drawing_of_the_network():
    X, y = lenses()
    network = TAN().fit(X, y).network_
    shown = ElementTree.fromstring(network._repr_html_())
    assert {title.text for title in shown.iter("title")} >= set(network.names)
    assert sum("nats" in (title.text or "") for title in shown.iter("title")) == len(network.edges)


def test_a_network_is_plotted_with_every_name():
    X, y = lenses()
    network = TAN().fit(X, y).network_
    ax = network.plot()
    assert {text.get_text() for text in ax.texts} == set(network.names)
    assert len(ax.lines) == len(network.edges)
    assert network.plot(ax) is ax
    matplotlib.pyplot.close("all")


def test_names_that_look_like_mathematics_are_plotted_as_text():
    X, y = lenses()
    table = dict(zip(["$x_{", "a\nb", "<b>", "^$$"], np.asarray(X, object).T, strict=True))
    TAN().fit(pd.DataFrame(table), y).network_.plot().figure.canvas.draw()
    AveragedTAN().fit(pd.DataFrame(table), y).plot_edge_probabilities().figure.canvas.draw()
    matplotlib.pyplot.close("all")


def test_edge_probabilities_are_plotted():
    X, y = lenses()
    model = AveragedTAN().fit(X, y)
    shown = model.plot_edge_probabilities().images[0].get_array()
    expected = model.edge_probabilities_
    off = ~np.eye(4, dtype=bool)
    assert np.array_equal(np.asarray(shown)[off], expected[off])
    several = AveragedTAN(multinet=True).fit(X, y)
    of_one = several.plot_edge_probabilities(of_class="soft").images[0].get_array()
    of_soft = several.edge_probabilities_[list(several.classes_).index("soft")]
    assert np.array_equal(np.asarray(of_one)[off], of_soft[off])
    with pytest.raises(ValueError, match="of_class must be one of"):
        several.plot_edge_probabilities()
    with pytest.raises(ValueError, match="multinet=True"):
        model.plot_edge_probabilities(of_class="soft")
    matplotlib.pyplot.close("all")


def test_a_network_of_one_attribute_is_drawn():
    X, y = lenses()
    network = TAN().fit([[row[0]] for row in X], y).network_
    assert isinstance(network, Network)
    assert "x0" in network._repr_html_()

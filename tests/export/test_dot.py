import re
import shutil
import subprocess
from xml.etree import ElementTree

import numpy as np
import pytest

from tanbark import AODE, AveragedTAN, BayesNet, export
from tanbark.datasets import lenses

GRAPHVIZ = shutil.which("dot")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def render():
    """Return a function from DOT to the labels of the nodes and the number of edges in the output of Graphviz."""
    if GRAPHVIZ is None:
        pytest.skip("graphviz is not installed")

    def rendered(text):
        done = subprocess.run([GRAPHVIZ, "-Tsvg"], input=text.encode(), capture_output=True, timeout=60, check=True)
        assert done.stderr == b""
        root = ElementTree.fromstring(done.stdout)
        drawn = {"node": [], "edge": []}
        for group in root.iter(f"{SVG}g"):
            if group.get("class") in drawn:
                words = "\n".join(t.text for t in group.iter(f"{SVG}text")) if group.get("class") == "node" else ""
                drawn[group.get("class")].append(words)
        return drawn["node"], len(drawn["edge"]), root

    return rendered


def test_graphviz_draws_every_node_by_its_name_and_every_edge(networks, render):
    for name, network in networks.items():
        nodes, edges, _ = render(export.dot(network))
        shown = [node.replace("\xa0", " ").split() for node in nodes]
        assert sorted(shown) == sorted(node.split() for node in network.names), name
        assert edges == sum(map(len, network.structure.parents))


def test_names_cannot_inject_scripts_or_break_the_graph(networks, render):
    _, _, root = render(export.dot(networks["hostile"]))
    assert not [element.tag for element in root.iter() if "script" in element.tag]


def test_control_characters_are_shown_as_pictures(render):
    X = np.array([["a"], ["b"]], object)
    network = BayesNet().fit(X, ["\x00bell\x07\x1b", "\x9b\udc80"]).network_
    strange = type(network)(
        network.schema.from_dict(network.schema.to_dict() | {"class_name": "\x00bell\x07\x9b\udc80\uffff"}),
        network.structure,
        network.log_tables,
    )
    assert render(export.dot(strange))[0][-1] == "␀bell␇���"


def test_only_the_edges_of_a_class_that_is_the_common_root_are_pale(networks):
    pale = re.findall(r"n(\d+) -> n\d+ \[color", export.dot(networks["KDB"]))
    assert pale == ["4"] * 4
    assert "color=" not in export.dot(networks["class with parents"]).replace("fillcolor", "")


def test_the_graph_of_an_average_has_the_probable_edges_and_states_the_threshold(render):
    X, y = lenses()
    model = AveragedTAN().fit(X, y)
    text = export.dot(model, threshold=0.3)
    nodes, edges, root = render(text)
    assert edges == 4 + (np.triu(model.edge_probabilities_) >= 0.3).sum()
    assert sorted(nodes) == ["class", "x0", "x1", "x2", "x3"]
    assert any("below 0.3 are left out" in (t.text or "") for t in root.iter(f"{SVG}text"))
    assert f'tooltip="probability {model.edge_probabilities_[2, 3]:.3f}"' in text
    several = AveragedTAN(multinet=True).fit(X, y)
    nodes, edges, _ = render(export.dot(several, threshold=0.0))
    assert sorted(nodes) == sorted(["class", "x0", "x1", "x2", "x3"] * 3)
    assert edges == 3 * (4 + 6)


def test_a_model_without_a_single_graph_is_refused(tmp_path):
    X, y = lenses()
    with pytest.raises(ValueError, match="AODE is not a single network, but DOT can hold only one"):
        export.dot(AODE().fit(X, y), tmp_path / "x.dot")
    assert not (tmp_path / "x.dot").exists()
    with pytest.raises(ValueError, match="threshold must be a probability from 0 to 1, got 2"):
        export.dot(AveragedTAN().fit(X, y), threshold=2)


def test_a_class_prior_does_not_change_the_graph():
    X, y = lenses()
    model = BayesNet(class_prior=[0.2, 0.3, 0.5], required=[("x3", "class")]).fit(X, y)
    assert export.dot(model) == export.dot(model.network_)


@pytest.mark.parametrize("multinet", [False, True])
def test_the_graph_of_an_average_shows_the_fitted_model_not_later_parameters(multinet):
    model = AveragedTAN(multinet=multinet).fit(*lenses())
    drawn = export.dot(model)
    assert export.dot(model.set_params(multinet=not multinet)) == drawn
    with pytest.raises(ValueError, match="all trees for each class" if multinet else "all trees"):
        export.bif(model)

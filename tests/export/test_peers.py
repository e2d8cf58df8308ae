"""pgmpy and pyAgrum read exported files and give the same answers; tanbark reads the files that they write."""

import io
import re

import numpy as np
import pytest

from tanbark import export

NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.-])")
READ = {"bif": export.read_bif, "xmlbif": export.read_xmlbif}
peers = pytest.mark.parametrize("peer", ["pgmpy", "pyagrum"])
forms = pytest.mark.parametrize("form", READ)


@forms
def test_the_text_equals_the_recorded_one_that_peers_read(form, networks, reference):
    recorded = reference("exported_networks")["networks"]
    for name, network in networks.items():
        text, expected = getattr(export, form)(network), recorded[name][form]
        assert NUMBER.sub("0", text) == NUMBER.sub("0", expected), name
        found, wanted = ([float(number) for number in NUMBER.findall(one)] for one in (text, expected))
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@peers
@forms
def test_peers_give_the_same_answers_from_exported_files(peer, form, networks, reference):
    asked = reference("exported_networks")["networks"]
    for name, network in networks.items():
        recorded = reference(f"{peer}_exports")["networks"][name][form]["answers"]
        # pyAgrum reads BIF in single precision.
        slack = 1e-7 if (peer, form) == ("pyagrum", "bif") else 1e-9
        for question, expected in zip(asked[name]["questions"], recorded, strict=True):
            np.testing.assert_allclose(queried(network, question), expected, rtol=0, atol=slack)


def queried(network, question):
    """Return the answer of the network to a question with numbered nodes and values."""
    codes = np.full((len(network.names) - 1, 1), network.schema.missing_code, network.schema.dtype)
    classes = np.arange(len(network.schema.classes))
    of_class = len(network.names) - 1
    target = question["target"]
    for node, at in question["evidence"].items():
        if int(node) == of_class:
            classes = classes[at : at + 1]
        else:
            codes[int(node)] = at
    if target != of_class:
        codes = np.repeat(codes, network.schema.columns[target].arity, axis=1)
        codes[target] = np.arange(codes.shape[1])
    joint = np.exp(network.log_joint(codes))[:, classes]
    weights = joint[0] if target == of_class else joint.sum(axis=1)
    return weights / weights.sum()


@peers
def test_peers_read_original_names_from_xmlbif_and_words_from_bif(peer, networks, reference):
    found = {form: one["names"] for form, one in reference(f"{peer}_exports")["networks"]["hostile"].items()}
    hostile = networks["hostile"].names
    special = {"", "_x0041_", "  two  spaces "}
    assert [a for a, b in zip(found["xmlbif"], hostile, strict=True) if b not in special] == [
        b for b in hostile if b not in special
    ]
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_.-]*", name) for name in found["bif"])


@peers
@forms
@pytest.mark.parametrize("name", ["naive Bayes", "class with parents"])
def test_files_written_by_peers_are_read(peer, form, name, networks, reference):
    recorded = reference(f"{peer}_exports")["networks"][name][form]
    names = networks[name].names
    network = READ[form](io.StringIO(recorded["written"]), class_name=names[-1])
    place = {str(v): str(network.names.index(node)) for v, node in enumerate(names)}
    questions = reference("exported_networks")["networks"][name]["questions"]
    # pyAgrum writes six digits.
    slack = 1e-6 if peer == "pyagrum" else 1e-9
    for question, expected in zip(questions, recorded["answers again"], strict=True):
        moved = {
            "target": int(place[str(question["target"])]),
            "evidence": {place[v]: at for v, at in question["evidence"].items()},
        }
        np.testing.assert_allclose(queried(network, moved), expected, rtol=0, atol=slack)

"""Restrictions on edges, and the errors for invalid ones."""

import numpy as np
import pytest

from tanbark.structure.search.restrictions import Restrictions

NAMES = ("age", "pulse", "sex", "ill")


def edges(flags):
    return {(NAMES[parent], NAMES[child]) for parent, child in np.argwhere(flags)}


def test_named_edges_are_forbidden_or_required_and_no_node_is_its_own_parent():
    found = Restrictions.of(NAMES, [("age", "ill"), ["sex", "age"]], np.array([["ill", "pulse"]]), 2)
    assert edges(found.forbidden) == {("age", "ill"), ("sex", "age"), *((name, name) for name in NAMES)}
    assert edges(found.required) == {("ill", "pulse")}
    assert found.max_parents == 2
    assert not found.class_above_all


@pytest.mark.parametrize(("given", "most"), [(None, 3), (99, 3), (3, 3), (1, 1), (0, 0)])
def test_no_node_has_more_parents_than_there_are_others(given, most):
    assert Restrictions.of(NAMES, max_parents=given).max_parents == most


def test_in_an_augmented_structure_the_class_is_a_parent_of_all_attributes_and_has_none():
    found = Restrictions.of(NAMES, augmented=True, max_parents=1)
    assert edges(found.required) == {("ill", name) for name in NAMES[:-1]}
    assert edges(found.forbidden) >= {(name, "ill") for name in NAMES[:-1]}
    assert found.class_above_all


@pytest.mark.parametrize("name", NAMES[:-1])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"forbidden": [("ill", "{}")]}, "from 'ill' to '{}' is forbidden, but the class must be a parent of every"),
        ({"required": [("{}", "ill")]}, "from '{}' to 'ill' is required, but the class has no parents"),
    ],
)
def test_an_edge_that_contradicts_an_augmented_structure_is_named(name, given, words):
    settings = {key: [tuple(end.format(name) for end in edge) for edge in named] for key, named in given.items()}
    with pytest.raises(ValueError, match=words.format(name)):
        Restrictions.of(NAMES, **settings, augmented=True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"forbidden": [("age", "ill")], "required": [("age", "ill")]},
            "'age' to 'ill' is both forbidden and requ",
        ),
        ({"required": [("age", "sex"), ("sex", "ill"), ("ill", "age")]}, "the required edges form a cycle"),
        ({"required": [("age", "ill"), ("sex", "ill")], "max_parents": 1}, "'ill' has 2 required parents, but max_par"),
        ({"max_parents": 0, "augmented": True}, "max_parents must be at least 1, because"),
        ({"required": [("age", "height")]}, "required names the unknown node 'height'; the nodes are 'age', 'pulse'"),
        ({"forbidden": [("age", "age")]}, "forbidden has an edge from 'age' to itself"),
    ],
)
def test_restrictions_that_no_structure_meets_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        Restrictions.of(NAMES, **settings)


@pytest.mark.parametrize("given", ["age", None, ["ab"], [("age",)], [("age", "sex", "ill")], [3]])
def test_anything_but_a_list_of_pairs_is_refused(given):
    with pytest.raises(TypeError, match=r"required must be a list of pairs \(parent, child\) of names"):
        Restrictions.of(NAMES, required=given)


def test_as_many_required_parents_as_allowed_are_fine():
    found = Restrictions.of(NAMES, required=[("age", "ill"), ("sex", "ill")], max_parents=2)
    assert edges(found.required) == {("age", "ill"), ("sex", "ill")}

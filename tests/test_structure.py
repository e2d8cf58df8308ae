import pytest

from tanbark.network import Structure


def test_augmented_puts_the_class_above_every_attribute():
    structure = Structure.augmented((2, -1, 1))
    assert structure.parents == ((2, 3), (3,), (1, 3), ())
    assert structure.is_augmented_tree()
    assert structure.attribute_parents(0) == (2,)


def test_parents_come_before_children():
    order = Structure.augmented((2, -1, 1)).topological_order()
    assert order == [3, 1, 2, 0]
    assert Structure.augmented((-1, -1, -1)).topological_order() == [3, 0, 1, 2]


@pytest.mark.parametrize("parents", [((1,), (0,)), ((0,),), ((5,), ()), ((1, 1), ())])
def test_what_is_no_acyclic_graph_is_refused(parents):
    with pytest.raises(ValueError):
        Structure(parents)


def test_a_class_with_parents_is_no_augmented_tree():
    assert not Structure(((), (0,))).is_augmented_tree()

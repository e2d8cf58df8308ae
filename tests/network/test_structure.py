import pytest

from tanbark.network import Structure


def test_augmented_makes_the_class_a_parent_of_every_attribute():
    structure = Structure.augmented((2, -1, 1))
    assert structure.parents == ((2, 3), (3,), (1, 3), ())
    assert structure.is_augmented_tree()
    assert structure.attribute_parents(0) == (2,)


def test_topological_order_puts_parents_before_children():
    order = Structure.augmented((2, -1, 1)).topological_order()
    assert order == [3, 1, 2, 0]
    assert Structure.augmented((-1, -1, -1)).topological_order() == [3, 0, 1, 2]


@pytest.mark.parametrize("parents", [((1,), (0,)), ((0,),), ((5,), ()), ((1, 1), ())])
def test_invalid_parents_and_cycles_raise(parents):
    with pytest.raises(ValueError):
        Structure(parents)


def test_a_structure_with_parents_of_the_class_is_not_an_augmented_tree():
    assert not Structure(((), (0,))).is_augmented_tree()

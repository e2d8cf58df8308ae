from tanbark.network import Structure
from tanbark.network.elimination_groups import Group, strides


def test_the_member_that_leaves_the_smallest_table_goes_first():
    """A chain 0 - 1 - 2 under the class, all missing, with 3 known below 2: summed out from its open end."""
    structure = Structure(((4,), (0, 4), (1, 4), (2, 4), ()))
    group = Group(structure, (2, 5, 3, 2), (0, 1, 2), (3,))
    # Without 0 a table over 1 is left (5 cells), without 1 one over 0 and 2 (6), without 2 one over 1 (5).
    assert [(member, left) for member, _, left in group.steps] == [(0, 0b010), (1, 0b100), (2, 0)]
    assert group.steps[0][1] == (0, 1)
    assert group.largest == 15
    assert group.around == (3,)
    assert group.drawn_order == (0, 1, 2)


def test_the_open_end_goes_first_wherever_it_stands():
    """A chain 1 - 0 - 2: without 0 a table over 1 and 2 is left, without 1 or 2 one over 0."""
    structure = Structure(((1, 4), (4,), (0, 4), (2, 4), ()))
    group = Group(structure, (9, 2, 3, 2), (0, 1, 2), (3,))
    assert [(member, left) for member, _, left in group.steps] == [(0, 0b110), (2, 0b010), (1, 0)]
    wide = Group(structure, (2, 9, 9, 2), (0, 1, 2), (3,))
    assert [(member, left) for member, _, left in wide.steps] == [(1, 0b001), (2, 0b001), (0, 0)]


def test_known_neighbours_are_all_known_attributes_in_the_factors_that_touch_the_group():
    structure = Structure(((), (0, 5), (1, 5), (2, 1, 4, 5), (5,), (0,)))
    assert Group(structure, (2,) * 5, (1,), (2, 3)).around == (0, 2, 3, 4)
    assert Group(structure, (2,) * 5, (0,), (1, 5)).around == (1,)


def test_members_are_drawn_after_their_parents():
    structure = Structure(((2, 3), (0, 3), (3,), ()))
    assert Group(structure, (2, 2, 2), (0, 2), (1,)).drawn_order == (2, 0)


def test_the_last_attribute_counts_one():
    assert strides((2, 0, 1), (3, 4, 5)) == [12, 4, 1]
    assert strides((), (3,)) == []

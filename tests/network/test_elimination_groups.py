from tanbark.network import Structure
from tanbark.network.elimination_groups import Group, strides


def test_the_member_that_leaves_the_smallest_table_is_eliminated_first():
    """A chain 0 - 1 - 2 of missing attributes, with the known child 3 of 2, is eliminated from its free end."""
    structure = Structure(((4,), (0, 4), (1, 4), (2, 4), ()))
    group = Group(structure, (2, 5, 3, 2), (0, 1, 2), (3,))
    # Eliminating 0 leaves a table over 1 (5 cells), 1 one over 0 and 2 (6 cells), 2 one over 1 (5 cells).
    assert [(member, left) for member, _, left in group.steps] == [(0, 0b010), (1, 0b100), (2, 0)]
    assert group.steps[0][1] == (0, 1)
    assert group.largest_table == 15
    assert group.known_neighbours == (3,)
    assert group.sampling_order == (0, 1, 2)


def test_the_order_of_elimination_depends_on_the_arities():
    """In a chain 1 - 0 - 2, eliminating 0 leaves a table over 1 and 2, eliminating 1 or 2 leaves one over 0."""
    structure = Structure(((1, 4), (4,), (0, 4), (2, 4), ()))
    group = Group(structure, (9, 2, 3, 2), (0, 1, 2), (3,))
    assert [(member, left) for member, _, left in group.steps] == [(0, 0b110), (2, 0b010), (1, 0)]
    wide = Group(structure, (2, 9, 9, 2), (0, 1, 2), (3,))
    assert [(member, left) for member, _, left in wide.steps] == [(1, 0b001), (2, 0b001), (0, 0)]


def test_known_neighbours_are_all_known_attributes_in_the_factors_of_the_group():
    structure = Structure(((), (0, 5), (1, 5), (2, 1, 4, 5), (5,), (0,)))
    assert Group(structure, (2,) * 5, (1,), (2, 3)).known_neighbours == (0, 2, 3, 4)
    assert Group(structure, (2,) * 5, (0,), (1, 5)).known_neighbours == (1,)


def test_members_are_sampled_after_their_parents():
    structure = Structure(((2, 3), (0, 3), (3,), ()))
    assert Group(structure, (2, 2, 2), (0, 2), (1,)).sampling_order == (2, 0)


def test_strides_are_row_major():
    assert strides((2, 0, 1), (3, 4, 5)) == [12, 4, 1]
    assert strides((), (3,)) == []

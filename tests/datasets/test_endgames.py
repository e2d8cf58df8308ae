from collections import Counter

from tanbark.datasets import tic_tac_toe


def test_every_row_and_label_is_that_of_the_published_file(published_rows, text_rows):
    assert text_rows(tic_tac_toe()) == published_rows("tic_tac_toe")


def test_the_class_counts_are_the_published_ones():
    assert Counter(tic_tac_toe().y) == {"positive": 626, "negative": 332}


def test_x_has_moved_as_often_as_o_or_once_more_and_boards_are_distinct():
    boards = ["".join(row) for row in tic_tac_toe().X]
    assert len(set(boards)) == 958
    assert {board.count("x") - board.count("o") for board in boards} == {0, 1}


def test_there_are_sixteen_draws():
    # Known from the enumeration of the game: 16 full boards without a line.
    X, y = tic_tac_toe()
    lines = [X[:, list(line)] for line in [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8)]]
    lines += [X[:, [0, 4, 8]], X[:, [2, 4, 6]]]
    o_wins = sum((line == "o").all(axis=1) for line in lines) > 0
    assert ((y == "negative") & ~o_wins).sum() == 16

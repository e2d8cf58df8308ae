"""The final boards of tic-tac-toe."""

from __future__ import annotations

from tanbark.datasets.dataset import Dataset

_SQUARES = tuple(
    f"{row}_{column}_square" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")
)
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def tic_tac_toe() -> Dataset:
    """Return every board that can end a game of tic-tac-toe: 958 rows, nine squares, class positive or negative.

    x moves first. A square is x, o or b (blank). The class is positive if x has won, and negative otherwise.

    References
    ----------
    D. W. Aha (1991). Incremental constructive induction: an instance-based approach. Proceedings of the Eighth
    International Workshop on Machine Learning, 117-121.

    Examples
    --------
    >>> tic_tac_toe()
    <Dataset tic_tac_toe: 958 rows, 9 features, 2 classes>
    """
    boards = sorted(_final_boards(), key=lambda board: ["xob".index(square) for square in board])
    labels = ["positive" if _has_won(board, "x") else "negative" for board in boards]
    source = "Aha (1991), Incremental constructive induction: an instance-based approach, Machine Learning Workshop 8."
    return Dataset.from_columns("tic_tac_toe", dict(zip(_SQUARES, zip(*boards))), labels, source=source)


def _final_boards() -> set[str]:
    """Return the boards, as nine letters, on which a game from the empty board can stop."""
    final: set[str] = set()
    boards, player, opponent = {"b" * 9}, "x", "o"
    while boards:
        moves = {
            board[:square] + player + board[square + 1 :]
            for board in boards
            for square in range(9)
            if board[square] == "b"
        }
        over = {board for board in moves if "b" not in board or _has_won(board, player)}
        final |= over
        boards = moves - over
        player, opponent = opponent, player
    return final


def _has_won(board: str, player: str) -> bool:
    """Return whether the player holds a whole line."""
    return any(all(board[square] == player for square in line) for line in _LINES)

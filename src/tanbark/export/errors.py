"""What is wrong with a file."""

from __future__ import annotations


class NetworkFileError(ValueError):
    """A file that describes no network, in a sentence; `line` is where, 0 if nowhere in particular."""

    def __init__(self, sentence: str, line: int = 0) -> None:
        super().__init__(sentence)
        self.line = line

"""A network drawn in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.network import Network


def print_tree(console: Console, network: Network) -> None:
    """Print the class and, beneath, the attributes as a tree."""
    from rich.text import Text

    first, _, rest = str(network).partition("\n")
    console.print(Text(first, style="bold"), soft_wrap=True)
    console.print(Text(rest), soft_wrap=True)

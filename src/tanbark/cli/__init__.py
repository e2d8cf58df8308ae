"""The command line. Importing it, or asking it for help, pulls in nothing heavy."""

from __future__ import annotations

from typing import Annotated

import typer

from tanbark import __version__
from tanbark.cli.compare import compare
from tanbark.cli.demo import demo
from tanbark.cli.errors import SentenceGroup
from tanbark.cli.fit import fit
from tanbark.cli.predict import predict
from tanbark.cli.reproduce import reproduce
from tanbark.cli.show import show
from tanbark.cli.update import update

app = typer.Typer(
    name="tanbark",
    cls=SentenceGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"tanbark {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Bayesian network classifiers: honest probabilities, and a graph of what depends on what."""


for command in (demo, fit, compare, update, predict, show, reproduce):
    app.command()(command)

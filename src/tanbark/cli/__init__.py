"""The command line. Importing it and printing help load no heavy dependencies."""

from __future__ import annotations

from typing import Annotated

import typer

from tanbark import __version__
from tanbark.cli.commands.compare_command import compare
from tanbark.cli.commands.demo_command import demo
from tanbark.cli.commands.evaluate_command import evaluate
from tanbark.cli.commands.export_command import export
from tanbark.cli.commands.fit_command import fit
from tanbark.cli.commands.predict_command import predict
from tanbark.cli.commands.report_command import report
from tanbark.cli.commands.reproduce_command import reproduce
from tanbark.cli.commands.schema_command import schema
from tanbark.cli.commands.show_command import show
from tanbark.cli.commands.update_command import update
from tanbark.cli.input.options import Debug, Quiet
from tanbark.cli.terminal.command_group import EXIT_INTERRUPTED, OWNS_PROCESS, CommandGroup, end_by_interrupt

EXIT_CODES = (
    "Exit codes: 0 success, 1 error (one line on stderr), 2 invalid command line, 129 terminal closed, "
    "130 interrupted, 141 output pipe closed, 143 terminated."
)

app = typer.Typer(
    name="tanbark",
    cls=CommandGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
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
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Bayesian network classifiers: calibrated probabilities and a graph of dependencies."""


for command in (demo, schema, fit, compare, evaluate, update, predict, show, report, export, reproduce):
    app.command()(command)


def run() -> None:
    """Run the command line and end the process."""
    OWNS_PROCESS.set(True)
    try:
        app(prog_name="tanbark")
    except SystemExit as error:
        if error.code == EXIT_INTERRUPTED:
            end_by_interrupt()
        raise

"""The entry point of ``tanbark`` and ``python -m tanbark``."""

from tanbark.cli import app
from tanbark.cli.terminal.command_group import EXIT_INTERRUPTED, OWNS_PROCESS, end_by_interrupt


def run() -> None:
    """Run the command line and end the process."""
    OWNS_PROCESS.set(True)
    try:
        app(prog_name="tanbark")
    except SystemExit as error:
        if error.code == EXIT_INTERRUPTED:
            end_by_interrupt()
        raise


if __name__ == "__main__":
    run()

"""The program: ``tanbark``, or ``python -m tanbark``."""

from tanbark.cli import app
from tanbark.cli.terminal.command_group import INTERRUPTED
from tanbark.cli.terminal.interrupts import OWN_PROCESS, end_by_interrupt


def run() -> None:
    """Run what the words of the command line say, and end the process."""
    OWN_PROCESS.set(True)
    try:
        app(prog_name="tanbark")
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            end_by_interrupt()
        raise


if __name__ == "__main__":
    run()

"""``python -m tanbark``: the command line."""

from tanbark.cli import app

app(prog_name="tanbark")

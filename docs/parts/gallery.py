"""Pictures, and the scripts that draw them: each writes one SVG file that bears its own name."""

import ast
import os
import runpy
import tempfile
from pathlib import Path

from matplotlib import pyplot as plt

from tanbark.drawing.html_page import in_page, style

FOLDER = Path(__file__).parent.parent / "gallery"


def scripts() -> list[Path]:
    """Return the scripts in the order in which they are shown."""
    return sorted(FOLDER.glob("*.py"))


def drawn(script: Path) -> str:
    """Return the SVG that a script writes into an empty folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with style():
                runpy.run_path(str(script))
            return Path(f"{title(script)}.svg").read_text()
        finally:
            plt.close("all")
            os.chdir(before)


def title(script: Path) -> str:
    """Return the name of a script without the number that orders it."""
    return script.stem.partition("_")[2]


def pictures() -> str:
    """Return every picture with what it shows and its code."""
    return "\n\n".join(shown(script) for script in scripts())


def shown(script: Path) -> str:
    """Return one picture: the script's first line as heading, the picture, what else its docstring says, the code."""
    source = script.read_text()
    heading, _, words = (ast.get_docstring(ast.parse(source)) or "").partition("\n")
    code = source.split('"""\n', 1)[1].strip()
    picture = in_page(drawn(script), heading)
    return (
        f"## {heading.rstrip('.')}\n\n{words.strip()}\n\n<div class='picture'>{picture}</div>\n\n```python\n{code}\n```"
    )

"""The gallery: pictures and the scripts that draw them. Each script writes one SVG file with its own name."""

import ast
import os
import runpy
import tempfile
from pathlib import Path

from matplotlib import pyplot as plt

from tanbark.drawing.html_page import embedded_svg, style

FOLDER = Path(__file__).parent.parent / "gallery"


def scripts() -> list[Path]:
    """Return the scripts in the order of the page."""
    return sorted(FOLDER.glob("*.py"))


def render(script: Path) -> str:
    """Run a script in an empty folder and return the SVG that it writes."""
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
    """Return the name of a script without its number."""
    return script.stem.partition("_")[2]


def pictures() -> str:
    """Return all pictures with descriptions and code."""
    return "\n\n".join(section(script) for script in scripts())


def section(script: Path) -> str:
    """Return one picture: heading and description from the docstring of the script, the picture, and the code."""
    source = script.read_text()
    heading, _, description = (ast.get_docstring(ast.parse(source)) or "").partition("\n")
    code = source.split('"""\n', 1)[1].strip()
    picture = embedded_svg(render(script), heading)
    text = f"## {heading.rstrip('.')}\n\n{description.strip()}"
    return f"{text}\n\n<div class='picture'>{picture}</div>\n\n```python\n{code}\n```"

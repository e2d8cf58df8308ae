"""Figures as SVG that can stand inside an HTML page, on paper that is light or dark."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import Any

INK = "#010203"
"""What is drawn in this colour takes that of the page's text."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
"""Those of Okabe and Ito, which colour-blind readers can tell apart, but for yellow, which is lost on white."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (5, 1.5, 1.5, 1.5)))
MARKERS = ("o", "s", "^", "D", "v", "X", "P")

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "tanbark",
    "font.size": 9.0,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of all figures while it lasts."""
    from matplotlib import rc_context

    with rc_context(_STYLE):
        yield


def line_style(at: int) -> dict[str, Any]:
    """Return how to draw the line of the classifier at a place, so that it differs from the others."""
    return {"color": COLOURS[at % len(COLOURS)], "linestyle": DASHES[at % len(DASHES)]}


def svg(figure: Any, title: str, tooltips: Mapping[str, str] | None = None) -> str:
    """Return a figure as an SVG element.

    The same figure gives the same text, and no two figures of a page share an id. Letters are those of the page.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    title : str
        What it shows, for those who cannot see it.
    tooltips : mapping of str, optional
        What to say of the artist that has such a gid.
    """
    file = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(file, format="svg", transparent=True, bbox_inches="tight", pad_inches=0.05, metadata=nothing)
    return in_page(file.getvalue(), title, tooltips)


def in_page(drawn: str, title: str, tooltips: Mapping[str, str] | None = None) -> str:
    """Return an SVG file that was drawn in the style of all figures as an element of a page; one that is, as it is."""
    drawn = drawn[drawn.index("<svg ") :].rstrip()
    if drawn.startswith('<svg role="img" '):
        return drawn
    own = "f" + hashlib.sha256((drawn + title).encode()).hexdigest()[:8]
    # The style of all elements would be that of all the page's.
    drawn = re.sub(r"<style.*?</style>", "", drawn, count=1, flags=re.DOTALL)
    drawn = re.sub(r"<[^>]*>", lambda tag: _in_page(tag[0], own), drawn)
    for gid, words in (tooltips or {}).items():
        begin = f'<g id="{own}-{gid}">'
        drawn = drawn.replace(begin, f"{begin}<title>{escape(words)}</title>", 1)
    given = 'style="max-width: 100%; height: auto; stroke-linejoin: round"'
    return f'<svg role="img" aria-label="{escape(title)}" {given} {drawn.removeprefix("<svg ")}'


def _in_page(tag: str, own: str) -> str:
    """Return a tag with the page's colour and letters, and with ids of its figure's own."""
    tag = tag.replace(INK, "currentColor")
    tag = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", re.sub(r"font-family: [^;\"]*;? ?", "", tag))
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{own}-", tag)

"""Self-contained HTML pages, and figures as SVG for them."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from itertools import zip_longest
from typing import Any

INK = "#010203"
"""A placeholder colour that is replaced by the text colour of the page."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
"""The colour-blind safe palette of Okabe and Ito without yellow, which is hard to see on white."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (5, 1.5, 1.5, 1.5)))
MARKERS = ("o", "s", "^", "D", "v", "X", "P")

_FIGURE_STYLE = {
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
    """Apply the common style of figures within a `with` block."""
    from matplotlib import rc_context

    with rc_context(_FIGURE_STYLE):
        yield


def line_style(at: int) -> dict[str, Any]:
    """Return the colour and dashes of the line of the classifier at an index."""
    return {"color": COLOURS[at % len(COLOURS)], "linestyle": DASHES[at % len(DASHES)]}


def svg(figure: Any, title: str, tooltips: Mapping[str, str] | None = None) -> str:
    """Return a figure as an SVG element.

    The text is deterministic, ids are unique within a page, and fonts are those of the page.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    title : str
        The text alternative for screen readers.
    tooltips : mapping of str, optional
        Tooltips by the gid of the artist.
    """
    file = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(file, format="svg", transparent=True, bbox_inches="tight", pad_inches=0.05, metadata=nothing)
    return in_page(file.getvalue(), title, tooltips)


def in_page(svg_text: str, title: str, tooltips: Mapping[str, str] | None = None) -> str:
    """Convert an SVG file in the common style to an element of a page; return such an element unchanged."""
    svg_text = svg_text[svg_text.index("<svg ") :].rstrip()
    if svg_text.startswith('<svg role="img" '):
        return svg_text
    own = "f" + hashlib.sha256((svg_text + title).encode()).hexdigest()[:8]
    # The style sheet of the figure would apply to the whole page.
    svg_text = re.sub(r"<style.*?</style>", "", svg_text, count=1, flags=re.DOTALL)
    svg_text = re.sub(r"<[^>]*>", lambda tag: _in_page(tag[0], own), svg_text)
    for gid, words in (tooltips or {}).items():
        begin = f'<g id="{own}-{gid}">'
        svg_text = svg_text.replace(begin, f"{begin}<title>{escape(words)}</title>", 1)
    given = 'style="max-width: 100%; height: auto; stroke-linejoin: round"'
    return f'<svg role="img" aria-label="{escape(title)}" {given} {svg_text.removeprefix("<svg ")}'


def _in_page(tag: str, own: str) -> str:
    """Return a tag with the colour and fonts of the page, and with ids that are unique to the figure."""
    tag = tag.replace(INK, "currentColor")
    tag = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", re.sub(r"font-family: [^;\"]*;? ?", "", tag))
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{own}-", tag)


_STYLE = """
:root { color-scheme: light dark; --ink: #1d2329; --faint: #5d6872; --paper: #fcfcfa; --line: #d9dcdf; --tint: #f0f2f0;
  --link: #0b62a4; --good: #0a6e4f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6e8; --faint: #9aa4ae; --paper: #15181b; --line: #363c42; --tint: #1f2428; --link: #74b7ee;
    --good: #5fcba4; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem 1rem 3rem; max-width: 72rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 .3rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p, li { max-width: 46rem; }
a { color: var(--link); }
small, figcaption { font-size: .875rem; }
small, figcaption, .faint { color: var(--faint); }
.best { color: var(--good); font-weight: 600; }
code, pre { font: .875rem/1.5 ui-monospace, Consolas, monospace; background: var(--tint); border-radius: 4px; }
code { padding: .1em .3em; }
pre { padding: .7rem .9rem; overflow-x: auto; white-space: pre-wrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9375rem; }
th, td { padding: .32rem .8rem .32rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line);
  overflow-wrap: normal; }
th { color: var(--faint); font-weight: 600; vertical-align: bottom; }
td.number, th.number { text-align: right; white-space: nowrap; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--paper); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); gap: 1.5rem 2rem; }
figure { margin: 0; }
figure svg { display: block; max-width: 100%; height: auto; }
"""


def page(title: str, body: str, style: str = "", script: str = "") -> str:
    """Return an HTML page that loads no resources and runs only the given script.

    Parameters
    ----------
    title : str
        Plain text; also the heading of the page.
    body : str
        HTML. Text that comes from data must be escaped.
    style, script : str, optional
        CSS in addition to the common style, and JavaScript that runs when the page is loaded.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if script else "'none'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}"
    run = f"<script>{script}</script>\n" if script else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}{style}</style>\n</head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{body}\n{run}</body>\n</html>\n"
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], looks: Sequence[str] = ()) -> str:
    """Return a table with escaped cells, which scrolls horizontally on narrow screens.

    A column whose nonempty cells all start with a number is right-aligned. `looks` are the CSS classes of the first
    rows: "best", "faint" or "".

    >>> print(table(["name", "error"], [["<b>", "0.12 ± 0.01"], ["tan", ""]]))  # doctest: +ELLIPSIS
    <div class="wide"><table>
    <thead><tr><th>name</th><th class="number">error</th></tr></thead>
    <tbody>
    <tr><td>&lt;b&gt;</td><td class="number">0.12 ± 0.01</td></tr>
    <tr><td>tan</td><td class="number"></td></tr>
    </tbody></table></div>
    """
    cells = [[str(cell) for cell in row] for row in rows]
    kinds = [' class="number"' if _numeric([row[at] for row in cells]) else "" for at in range(len(columns))]

    def line(tag: str, words: Sequence[str], look: str = "") -> str:
        inside = "".join(f"<{tag}{kind}>{escape(word)}</{tag}>" for kind, word in zip(kinds, words))
        return f'<tr class="{look}">{inside}</tr>' if look else f"<tr>{inside}</tr>"

    body = "\n".join(line("td", row, look) for row, look in zip_longest(cells, looks, fillvalue=""))
    return f'<div class="wide"><table>\n<thead>{line("th", columns)}</thead>\n<tbody>\n{body}\n</tbody></table></div>'


def figure(svg: str, caption: str) -> str:
    """Return a figure element of an SVG drawing and its caption, which is escaped."""
    return f"<figure>\n{svg}\n<figcaption>{escape(caption)}</figcaption>\n</figure>"


def _numeric(words: Sequence[str]) -> bool:
    """Return whether the words other than dashes all start with a number, and there is at least one.

    >>> _numeric(["12 %", "–3.5", ""]), _numeric(["3 of 9", "all"])
    (True, False)
    """
    given = [word.strip(" -+−–—<>±~(.") for word in words]
    return any(given) and all(word[:1].isdigit() for word in given if word)

"""Self-contained HTML pages, and matplotlib figures as SVG elements of such pages.

A figure is drawn within `style`, converted by `svg`, given a caption by `figure`, and put on a `page` between text and
tables (`table`). It takes its text colour and font from the page, and thus follows its light or dark theme.
"""

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
"""Placeholder colour in figures, replaced by the text colour of the page."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
"""The palette of Okabe and Ito, which is safe for colour-blind readers, without yellow, which is invisible on white."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (5, 1.5, 1.5, 1.5)))
MARKERS = ("o", "s", "^", "D", "v", "X", "P")

_RC_PARAMS = {
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

_PAGE_CSS = """
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


# Figures


@contextmanager
def style() -> Iterator[None]:
    """Set the matplotlib style of all figures within the context."""
    from matplotlib import rc_context

    with rc_context(_RC_PARAMS):
        yield


def line_style(index: int) -> dict[str, Any]:
    """Return the colour and dashes of the line with this index; lines of a figure differ in at least one of them."""
    return {"color": COLOURS[index % len(COLOURS)], "linestyle": DASHES[index % len(DASHES)]}


def svg(figure: Any, title: str, tooltips: Mapping[str, str] | None = None) -> str:
    """Return a matplotlib figure as an SVG element of a page.

    The output is deterministic, and the ids of different figures on a page do not collide.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    title : str
        Description of the figure for screen readers.
    tooltips : mapping of str to str, default=None
        Tooltips of artists, by their gid.
    """
    file = io.StringIO()
    no_metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(file, format="svg", transparent=True, bbox_inches="tight", pad_inches=0.05, metadata=no_metadata)
    return embedded_svg(file.getvalue(), title, tooltips)


def embedded_svg(document: str, title: str, tooltips: Mapping[str, str] | None = None) -> str:
    """Convert an SVG document drawn in the common `style` to an element of a page; return such elements unchanged."""
    element = document[document.index("<svg ") :].rstrip()
    if element.startswith('<svg role="img" '):
        return element
    prefix = "f" + hashlib.sha256((element + title).encode()).hexdigest()[:8]
    # Remove the global style sheet, which would apply to the whole page.
    element = re.sub(r"<style.*?</style>", "", element, count=1, flags=re.DOTALL)
    element = re.sub(r"<[^>]*>", lambda tag: _converted_tag(tag[0], prefix), element)
    for gid, text in (tooltips or {}).items():
        group = f'<g id="{prefix}-{gid}">'
        element = element.replace(group, f"{group}<title>{escape(text)}</title>", 1)
    css = 'style="max-width: 100%; height: auto; stroke-linejoin: round"'
    return f'<svg role="img" aria-label="{escape(title)}" {css} {element.removeprefix("<svg ")}'


def _converted_tag(tag: str, prefix: str) -> str:
    """Return a tag with the text colour and font of the page, and with prefixed ids."""
    tag = tag.replace(INK, "currentColor")
    tag = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", re.sub(r"font-family: [^;\"]*;? ?", "", tag))
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", tag)


def figure(svg: str, caption: str) -> str:
    """Return an HTML figure: an SVG element and its caption, which is escaped."""
    return f"<figure>\n{svg}\n<figcaption>{escape(caption)}</figcaption>\n</figure>"


# Pages


def page(title: str, body: str, style: str = "", script: str = "") -> str:
    """Return a complete HTML page that loads no external resources and runs only its own script.

    Parameters
    ----------
    title : str
        Title and heading, as plain text.
    body : str
        HTML. Text that comes from data must be escaped.
    style : str, default=""
        CSS in addition to that of all pages.
    script : str, default=""
        JavaScript that runs at the end of the page.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if script else "'none'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}"
    script_element = f"<script>{script}</script>\n" if script else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escape(title)}</title>\n<style>{_PAGE_CSS}{style}</style>\n</head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{body}\n{script_element}</body>\n</html>\n"
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], looks: Sequence[str] = ()) -> str:
    """Return an HTML table with escaped cells, which scrolls horizontally on narrow screens.

    Columns of numbers are aligned to the right: those in which all cells that are not empty begin with a number.
    `looks` are the CSS classes of the first rows: "best", "faint" or "".

    >>> print(table(["name", "error"], [["<b>", "0.12 ± 0.01"], ["tan", ""]]))  # doctest: +ELLIPSIS
    <div class="wide"><table>
    <thead><tr><th>name</th><th class="number">error</th></tr></thead>
    <tbody>
    <tr><td>&lt;b&gt;</td><td class="number">0.12 ± 0.01</td></tr>
    <tr><td>tan</td><td class="number"></td></tr>
    </tbody></table></div>
    """
    cells = [[str(cell) for cell in row] for row in rows]
    classes = [' class="number"' if _is_numeric([row[i] for row in cells]) else "" for i in range(len(columns))]

    def html_row(tag: str, texts: Sequence[str], look: str = "") -> str:
        html = "".join(f"<{tag}{kind}>{escape(text)}</{tag}>" for kind, text in zip(classes, texts, strict=True))
        return f'<tr class="{look}">{html}</tr>' if look else f"<tr>{html}</tr>"

    body = "\n".join(html_row("td", row, look) for row, look in zip_longest(cells, looks, fillvalue=""))
    head = html_row("th", columns)
    return f'<div class="wide"><table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody></table></div>'


def _is_numeric(texts: Sequence[str]) -> bool:
    """Return whether some text is not empty or a dash, and all of these begin with a number.

    >>> _is_numeric(["12 %", "–3.5", ""]), _is_numeric(["3 of 9", "all"])
    (True, False)
    """
    stripped = [text.strip(" -+−–—<>±~(.") for text in texts]
    return any(stripped) and all(text[:1].isdigit() for text in stripped if text)

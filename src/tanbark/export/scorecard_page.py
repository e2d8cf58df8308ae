"""The HTML page of a scorecard."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from tanbark.drawing.html_page import page, table
from tanbark.messages import percent

if TYPE_CHECKING:
    from tanbark.export.scorecard_points import Scorecard, ScorecardRow

MAX_LISTED_LEVELS = 12
"""Levels of a category with more levels than these share a line if they have the same points."""
MAX_SCORES = 12
"""The maximum number of lines of the table from scores to probabilities."""

_CSS = """
.lead { font-size: 1.05rem; margin: .2rem 0 1rem; }
.facts { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0 0; padding: 0; list-style: none; }
.facts li { flex: 1 1 11rem; max-width: none; padding: .7rem .9rem; border: 1px solid var(--line); border-radius: 8px;
  background: var(--tint); }
.facts b { display: block; font-size: 1.45rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.facts span { color: var(--faint); font-size: .875rem; }
.cards { columns: 30rem; column-gap: 1.2rem; margin-top: .8rem; }
.card { border: 1px solid var(--line); border-radius: 8px; padding: .3rem 1rem .7rem; margin-bottom: 1.2rem;
  break-inside: avoid; }
.card h3 { display: flex; justify-content: space-between; gap: 1rem; margin: .6rem 0 .3rem; }
.card h3 small { font-weight: 400; white-space: nowrap; }
.card table { width: 100%; }
.card tr:last-child td { border-bottom: 0; }
.card td:first-child { overflow-wrap: anywhere; min-width: 6rem; }
.card td.interval { white-space: nowrap; }
.card td.special { color: var(--faint); }
.card th:first-child, .card td:first-child { position: static; background: none; }
.card td:last-child, .card th:last-child { padding-right: 0; }
td.bars { width: 30%; min-width: 3rem; vertical-align: middle; }
.bars span { display: block; position: relative; height: .8rem; }
.bars span::before { content: ""; position: absolute; left: 50%; top: -.35rem; bottom: -.35rem;
  border-left: 1px solid var(--line); }
.bars i { position: absolute; top: 0; bottom: 0; border-radius: 2px; background: #0072B2; }
.bars i.minus { background: #D55E00; }
@media (max-width: 30rem) { .card { padding: .3rem .7rem .7rem; } .card td, .card th { padding-right: .5rem; } }
@media print { body { max-width: none; } .facts li, .bars i { print-color-adjust: exact; } }
"""


def scorecard_html(card: Scorecard) -> str:
    """Return the page of a scorecard, with the attributes that have the widest range of points first."""
    digits = card.scaling.digits
    names = list(dict.fromkeys(row.attribute for row in card.rows))
    rows_of = {name: [row for row in card.rows if row.attribute == name] for name in names}
    ranges = {name: _range(rows) for name, rows in rows_of.items()}
    names.sort(key=lambda name: ranges[name][0] - ranges[name][1])
    lowest = card.start + sum(low for low, _ in ranges.values())
    highest = card.start + sum(high for _, high in ranges.values())
    scale = max((abs(row.points) for row in card.rows), default=0.0) or 1.0
    positive, class_name = str(card.positive), card.schema.class_name
    facts = [
        (_shown(card.start, digits), "starting points"),
        (f"{_shown(lowest, digits)} to {_shown(highest, digits)}", "range of scores"),
        (f"{card.scaling.points_to_double:g}", "points that double the odds"),
        (f"{card.scaling.base_points:g}", f"points at odds of {card.scaling.base_odds:g} to 1"),
    ]
    lead = (
        f"The score of a row is the starting points plus the points of each of its values. The higher it is, the more "
        f"probable is {class_name} = {positive}."
    )
    legend = (
        f"The attributes with the widest range of points come first. “rows” is the share of the training rows with a "
        f"value, and “rate” is the share of {class_name} = {positive} among them."
    )
    tiles = "".join(f"<li><b>{escape(value)}</b><span>{escape(what)}</span></li>" for value, what in facts)
    cards = "\n".join(_card(name, rows_of[name], ranges[name], scale, digits) for name in names)
    changes = "\n".join(f"<p>{escape(sentence)}</p>" for sentence in card.losses.sentences())
    measured = card.losses.performance()
    body = [
        f'<p class="lead">{escape(lead)}</p>\n<ul class="facts">{tiles}</ul>',
        f'<h2>Points</h2>\n<p class="faint">{escape(legend)}</p>\n<div class="cards">\n{cards}\n</div>',
        "<h2>From scores to probabilities</h2>",
        table(["score", f"odds of {positive}", f"probability of {positive}"], _probabilities(card, lowest, highest)),
        f"<p>{escape(card.formula())}</p>\n<p>{escape(card.scaling.sentence())}</p>",
        f"<h2>Changes by merging and rounding</h2>\n{changes}",
        table(["on the given rows", "model", "scorecard"], measured) if measured else "",
    ]
    return page(f"Scorecard for {class_name} = {positive}", "\n".join(part for part in body if part), _CSS)


def _range(rows: Sequence[ScorecardRow]) -> tuple[float, float]:
    """Return the lowest and the highest points of an attribute."""
    points = [row.points for row in rows]
    return min(points), max(points)


def _card(
    name: str,
    rows: Sequence[ScorecardRow],
    range_: tuple[float, float],
    scale: float,
    digits: int | None,
) -> str:
    """Return the table of an attribute."""
    levels = sum(row.kind == "level" for row in rows)
    groups = _same_points(rows) if levels > MAX_LISTED_LEVELS else [[row] for row in rows]
    lines = "\n".join(_line(group, scale, digits) for group in groups)
    spread = f"{_shown(range_[0], digits, '+')} to {_shown(range_[1], digits, '+')}"
    return (
        f'<section class="card"><h3><span>{escape(name)}</span><small>{spread}</small></h3>\n'
        '<div class="wide"><table><thead><tr><th>value</th><th></th><th class="number">points</th>'
        '<th class="number">rows</th><th class="number">rate</th></tr></thead>\n'
        f"<tbody>\n{lines}\n</tbody></table></div></section>"
    )


def _same_points(rows: Iterable[ScorecardRow]) -> list[list[ScorecardRow]]:
    """Return groups of levels with the same points, from high to low; other rows follow one by one."""
    groups: dict[float, list[ScorecardRow]] = {}
    others = []
    for row in rows:
        if row.kind == "level":
            groups.setdefault(row.points, []).append(row)
        else:
            others.append([row])
    return [groups[points] for points in sorted(groups, reverse=True)] + others


def _line(group: Sequence[ScorecardRow], scale: float, digits: int | None) -> str:
    """Return the line of one row, or of levels with the same points."""
    points, share = group[0].points, sum(row.share for row in group)
    positives = sum(row.share * (row.rate or 0.0) for row in group)
    rate = percent(min(positives / share, 1.0)) if share > 0 else "–"
    label = ", ".join(escape(row.label) or "<em>empty</em>" for row in group)
    look = group[0].kind if group[0].kind in ("interval", "level") else "special"
    limits = [f"above {group[0].above!r}"] * (group[0].above is not None)
    limits += [f"up to {group[0].up_to!r}"] * (group[0].up_to is not None)
    title = f' title="{escape(", ".join(limits))}"' if limits else ""
    width = 50 * abs(points) / scale
    minus = points < 0
    place = f"left: {50 - width if minus else 50:.2f}%; width: {width:.2f}%"
    bar = f'<span aria-hidden="true"><i{" class=minus" * minus} style="{place}"></i></span>'
    return (
        f'<tr><td class="{look}"{title}>{label}</td><td class="bars">{bar}</td>'
        f'<td class="number">{_shown(points, digits, "+")}</td><td class="number">{percent(share)}</td>'
        f'<td class="number">{rate}</td></tr>'
    )


def _shown(points: float, digits: int | None, sign: str = "") -> str:
    """Return points as text; those that were not rounded have two decimals."""
    text = f"{points:{sign}.{2 if digits is None else digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("+-")


def _probabilities(card: Scorecard, lowest: float, highest: float) -> list[tuple[str, str, str]]:
    """Return scores at equal distances from the lowest to the highest, with their odds and probabilities."""
    base, distance = card.scaling.base_points, float(card.scaling.points_to_double)
    while (highest - lowest) / distance > MAX_SCORES - 2:
        distance *= 2
    first, last = math.floor((lowest - base) / distance), math.ceil((highest - base) / distance)
    lines = []
    for i in range(last, first - 1, -1):
        score = base + i * distance
        log_odds = (score - card.offset) / card.factor
        probability = 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0
        lines.append((f"{score:,.10g}".replace("-", "−"), _odds(log_odds), percent(probability)))
    return lines


def _odds(log_odds: float) -> str:
    """Return odds as text.

    >>> _odds(math.log(50)), _odds(-math.log(4))
    ('50 to 1', '1 to 4')
    """
    size = f"{math.exp(min(abs(log_odds), 700)):,.3g}"
    return f"{size} to 1" if log_odds >= 0 else f"1 to {size}"

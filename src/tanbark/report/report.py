"""A page about a fitted classifier: what it learned, how good it is, and what it would say if."""

from __future__ import annotations

import json
import os
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tanbark.atomic_write import replacing
from tanbark.classifiers.base.counts_classifier import CountsClassifier, settings_of
from tanbark.classifiers.stream import Stream
from tanbark.drawing.html_page import page, table
from tanbark.report.importance import information, mean_weights
from tanbark.report.network_drawings import Drawing, drawings
from tanbark.report.page_model import TooLargeError, has_evidence, page_model
from tanbark.report.performance import Judgement, given_rows, judged, judgement_section

SCRIPTS = ("numbers", "tables", "tree_messages", "network", "ensembles", "tree_average", "inference", "report")
"""What a page computes with, in the order in which it is read."""
AT_FIRST = 15
"""So many attributes are shown at first in the order of what they tell."""


def write_report(model: Any, path: str | os.PathLike[str], data: Any = None) -> None:
    """Write a page about a fitted classifier: one HTML file that needs nothing else.

    It draws the network, shows a node's table when it is clicked, says what matters, and answers what-if questions by
    itself: the probabilities and weights of evidence are those of `predict_proba` and `explain`.

    Parameters
    ----------
    model : classifier or Stream
    path : path
    data : table, or a tuple of a table and its classes, optional
        Rows to show calibration, confusion and mean weights of evidence for; best those that were not learned from. A
        data frame or an Arrow table may hold the class as a column.

    Examples
    --------
    >>> import tempfile
    >>> from tanbark import TAN, write_report
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(TAN().fit(X, y), Path(folder, "lenses.html"), data=(X, y))
    """
    fitted = _fitted(model)
    rows = None if data is None else given_rows(fitted, data)
    judgement = None if rows is None else judged(fitted, rows)
    weights = None if rows is None else mean_weights(fitted, rows.codes)
    write_page(fitted, Path(path), judgement, weights)


def write_page(model: CountsClassifier, path: Path, judgement: Judgement | None, weights: Any) -> None:
    """Write the page about a fitted classifier, given what `report_page` is."""
    text = report_page(model, judgement, weights)
    with replacing(path) as file:
        # Half a character, which a name may hold, has no place in a file of text.
        file.write(text.encode(errors="replace"))


def _fitted(model: Any) -> CountsClassifier:
    if isinstance(model, Stream):
        check_is_fitted(model, "model_")
        model = model.model_
    if not isinstance(model, CountsClassifier):
        raise TypeError(f"a report is about a classifier of tanbark, got {type(model).__name__!r}")
    check_is_fitted(model)
    return model


def report_page(model: CountsClassifier, judgement: Judgement | None, weights: Any) -> str:
    """Return the page.

    Parameters
    ----------
    model : classifier
    judgement : Judgement, optional
        What it said of rows whose classes are known.
    weights : array of shape (attributes,), optional
        The mean size of each attribute's weight of evidence.
    """
    schema = model.schema_
    told = information(model)
    shades = (told / (told.max() or 1.0)).tolist()
    drawn = drawings(model, shades)
    content: dict[str, Any] = {
        "className": schema.class_name,
        "classes": [str(label) for label in schema.classes],
        "columns": [{"name": column.name, "labels": list(column.labels)} for column in schema.columns],
        "importance": told.tolist(),
        "drawings": [
            {"path": one.path, "parents": one.parents, "ofClass": one.of_class, "title": one.title} for one in drawn
        ],
        "logPrior": [_number(value) for value in model.class_log_prior_.tolist()],
    }
    too_large = ""
    try:
        content["scorer"] = page_model(model.model_)
    except TooLargeError as error:
        too_large = str(error)
    sections = [
        (
            "what-if",
            "What if",
            _what_if(model, too_large, has_evidence(content.get("scorer"))),
        ),
        ("network", "What depends on what", _network(drawn, too_large)),
        ("matters", "What matters", _importance(model, told, weights)),
        ("classes", "The classes", _classes(model)),
    ]
    if judgement is not None:
        name = type(model).__name__
        sections.insert(1, ("quality", "How good it is", judgement_section(judgement, name)))
    sections.append(("done", "What was learned", _facts(model)))
    links = "".join(f'<a href="#{key}">{escape(head)}</a> ' for key, head, _ in sections)
    body = [
        f'<p class="faint">{escape(_summary(model))}</p>',
        f'<nav aria-label="Parts of this page">{links}</nav>',
        *(f'<section id="{key}">\n<h2>{escape(head)}</h2>\n{inside}\n</section>' for key, head, inside in sections),
        f'<script type="application/json" id="carried">{_json(content)}</script>',
    ]
    script = "".join(_resource(f"script/{name}.js") for name in SCRIPTS)
    title = f"{type(model).__name__} for {schema.class_name}"
    return page(title, "\n".join(body), _resource("report.css"), script)


def _resource(name: str) -> str:
    return files("tanbark.report").joinpath(name).read_text("utf-8")


def _json(content: Any) -> str:
    """Return JSON that can stand in a page whatever it holds.

    >>> _json("</script>")
    '"\\\\u003c/script>"'
    """
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("&", "\\u0026")


def _number(value: float) -> float | str:
    """Return a number as JSON can hold it; a class that cannot be has a logarithm that it cannot."""
    return value if np.isfinite(value) else "-Infinity"


def _summary(model: CountsClassifier) -> str:
    total, attributes, classes = (
        model.counts_.class_counts.sum(),
        len(model.schema_.columns),
        len(model.schema_.classes),
    )
    rows = f"{total:,.0f}" if total == int(total) else f"{total:,.1f}"
    return (
        f"Learned from {rows} rows of {attributes:,} attribute{'s' * (attributes != 1)}; "
        f"{classes:,} class{'es' * (classes != 1)}."
    )


def _what_if(model: CountsClassifier, too_large: str, explained: bool) -> str:
    if too_large:
        return f"<p>This page cannot compute answers: {escape(too_large)}. Python can, with predict_proba.</p>"
    name = escape(model.schema_.class_name)
    if explained:
        weighing = (
            "Weights of evidence, in nats, centred over the classes: with that of the prior they add up to the answer."
        )
    else:
        weighing = (
            "Weights of evidence, in nats, centred over the classes: by how much each value moved the answer, after "
            "those set before it. With that of the prior they add up to the answer."
        )
    return (
        "<p>Say what is known, and leave the rest unknown: it is summed out.</p>\n"
        '<p id="trouble" role="alert" hidden>Too much is unknown to be summed out exactly; set more attributes.</p>\n'
        f'<div class="panel"><div>\n<h3 id="answer">{name}</h3>\n'
        '<ul class="answers" id="answers" role="radiogroup" aria-labelledby="answer"></ul>\n'
        f'<p><small>{weighing} Shown for <b id="of-class"></b>, prior <output id="prior-weight"></output>; choose '
        'another class to see its weights.</small></p>\n<p id="said" class="unseen" role="status"></p>\n</div>\n<div>\n'
        '<div class="tools"><label>Find <input id="find-attribute" type="search" placeholder="attribute"></label>'
        '<button id="forget" type="button">All unknown</button></div>\n'
        '<ul class="moves" id="moves"></ul>\n<p><button id="more-attributes" type="button" hidden></button></p>\n'
        "</div></div>\n<noscript><p>Answers need JavaScript, which this page brings with it.</p></noscript>"
    )


def _network(drawn: list[Drawing], too_large: str) -> str:
    click = "" if too_large else " Click a node, or press Enter on it, to see its table; arrow keys move."
    parts = [f"<p>The more a node is shaded the more it tells about the class.{click}</p>"]
    before = ""
    for one in drawn:
        title = f"<h3>{escape(one.title)}</h3>\n" if one.title else ""
        if one.explained != before:
            title += f"<p>{escape(one.explained)}</p>\n"
        before = one.explained
        parts.append(
            f'{title}<div class="tools"><label>Find <input type="search" placeholder="node"></label>'
            '<button type="button" class="smaller" aria-label="smaller">−</button>'
            '<button type="button" class="larger" aria-label="larger">+</button>'
            '<button type="button" class="whole">Fit width</button></div>\n'
            f'<div class="drawing" role="region" aria-label="Drawing of the network">{one.svg}</div>'
        )
    parts.append('<div id="table" role="region" aria-label="Table of the chosen node"></div>')
    return "\n".join(parts)


def _importance(model: CountsClassifier, told: Any, weights: Any) -> str:
    names = model.schema_.names
    order = np.argsort(-told, kind="stable").tolist()
    words = (
        "How much each attribute alone tells about the class under the model, whose probabilities are smoothed: the "
        "mutual information, in nats."
    )
    heads = ["attribute", "tells", ""]
    if weights is not None:
        words += " Beside it the mean size of its weight of evidence in rows, in nats."
        heads += ["weighs", ""]
    two = " two" if weights is not None else ""

    def line(u: int) -> str:
        cells = _bar("tells", told[u], told.max(), "")
        if two:
            cells += _bar("weighs", weights[u], weights.max(), " second")
        return f'<li class="{two.strip()}"><span class="name">{_breakable(names[u])}</span>{cells}</li>'

    head = "".join(f'<span class="head">{word}</span>' for word in heads)
    first = "\n".join(map(line, order[:AT_FIRST]))
    parts = [
        f"<p>{words}</p>",
        f'<ul class="ranks"><li class="headline{two}" aria-hidden="true">{head}</li>{first}</ul>',
    ]
    if len(order) > AT_FIRST:
        rest = "\n".join(map(line, order[AT_FIRST:]))
        many = len(order) - AT_FIRST
        parts.append(f'<details><summary>{many:,} more</summary><ul class="ranks">{rest}</ul></details>')
    return "\n".join(parts)


def _breakable(name: str) -> str:
    """Return a name that may be broken after marks between words.

    >>> _breakable("a_b<c")
    'a_<wbr>b&lt;c'
    """
    return re.sub(r"(?<=[_\-./])(?=.)", "<wbr>", escape(name), flags=re.DOTALL)


def _bar(what: str, value: float, most: float, look: str) -> str:
    share = value / most if most > 0 else 0.0
    return (
        f'<span class="bar{look}" aria-hidden="true"><i style="width: {share:.1%}"></i></span>'
        f'<span class="number"><span class="unseen">{what} </span>{value:.4f}</span>'
    )


def _classes(model: CountsClassifier) -> str:
    counts = model.counts_.class_counts
    prior = np.exp(model.class_log_prior_)
    lines = []
    for label, many, p in zip(model.schema_.classes, counts.tolist(), prior.tolist()):
        bar = f'<span class="bar" aria-hidden="true"><i style="width: {p:.1%}"></i></span>'
        number = f'<span class="number" title="{many:,.10g} rows">{p:.2%}</span>'
        lines.append(f'<li><span class="name">{escape(str(label))}</span>{bar}{number}</li>')
    words = "How probable each class is before anything is known of a row."
    return f'<p>{words}</p>\n<ul class="ranks">{"".join(lines)}</ul>'


def _facts(model: CountsClassifier) -> str:
    from tanbark import __version__
    from tanbark.schema import Encoder, Number

    schema, counts = model.schema_, model.counts_
    total = counts.class_counts.sum()
    usual = settings_of(type(model)(encoder=Encoder()))
    given = {name: value for name, value in settings_of(model).items() if value != usual.get(name)}
    settings = ", ".join(f"{name}={value!r}" for name, value in given.items())
    rows = [
        ("classifier", f"{type(model).__name__}({settings})"),
        ("made by", f"tanbark {__version__}"),
    ]
    columns = []
    for u, column in enumerate(schema.columns):
        kind = "number" if isinstance(column, Number) else "category"
        missing = max(1.0 - counts.value(u).sum() / total, 0.0) if total else 0.0
        labels = ", ".join(column.labels[:8]) + (f" and {column.arity - 8} more" if column.arity > 8 else "")
        columns.append([column.name, kind, column.arity, f"{missing:.1%}", labels])
    listed = table(["attribute", "kind", "values", "missing", ""], columns)
    return f"{table(['', ''], rows)}\n<details><summary>{len(columns):,} attributes</summary>{listed}</details>"

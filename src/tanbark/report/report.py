"""An HTML report on a fitted classifier."""

from __future__ import annotations

import json
import os
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from tanbark.atomic_write import replacing
from tanbark.classifiers.base.counts_classifier import CountsClassifier, settings_of
from tanbark.classifiers.stream import Stream
from tanbark.drawing.html_page import page, table
from tanbark.messages import counted
from tanbark.models import EvidenceModel
from tanbark.report.date_inputs import date_inputs
from tanbark.report.importance import Importance, attribute_importance, mean_weights
from tanbark.report.network_drawings import Drawing, drawings
from tanbark.report.page_model import TooLargeError, has_evidence, page_model
from tanbark.report.performance import Performance, given_rows, measure_performance, performance_section
from tanbark.schema.encode.columns import MISSING_LABEL

SCRIPTS = (
    "numbers",
    "tables",
    "tree_messages",
    "network",
    "ensembles",
    "tree_average",
    "evidence_tables",
    "inference",
    "evidence_panel",
    "report",
)
"""The scripts of a page, in the order in which they run."""
MAX_LISTED_ATTRIBUTES = 15
"""The number of most important attributes that are shown before the list is expanded."""


def write_report(model: Any, path: str | os.PathLike[str], data: Any = None) -> None:
    """Write a report on a fitted classifier as a self-contained HTML file.

    The page shows the network, the probability table of each node, and the feature importance. For `EvidenceBN`, which
    has no probability tables, it shows the evidence of each attribute's values. It also answers what-if questions: the
    browser computes the same probabilities and weights of evidence as `predict_proba` and `explain`.

    Parameters
    ----------
    model : classifier or Stream
        A fitted classifier.
    path : str or path-like
        The HTML file to write.
    data : table, or tuple of a table and its classes, default=None
        Rows on which to measure the performance and the mean weights of evidence, preferably not the training rows. A
        data frame or an Arrow table may contain the class as a column.

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
    performance = None if rows is None else measure_performance(fitted, rows)
    weights = None if rows is None else mean_weights(fitted, rows.codes)
    write_page(fitted, Path(path), performance, weights)


def write_page(model: CountsClassifier, path: Path, performance: Performance | None, weights: Any) -> None:
    """Write the page about a fitted classifier; the parameters are those of `report_page`."""
    text = report_page(model, performance, weights)
    with replacing(path) as file:
        # Names may contain lone surrogates, which cannot be encoded.
        file.write(text.encode(errors="replace"))


def _fitted(model: Any) -> CountsClassifier:
    if isinstance(model, Stream):
        check_is_fitted(model, "model_")
        model = model.model_
    if not isinstance(model, CountsClassifier):
        raise TypeError(f"model must be a tanbark classifier or a Stream, got {type(model).__name__!r}")
    check_is_fitted(model)
    return model


def report_page(model: CountsClassifier, performance: Performance | None, weights: Any) -> str:
    """Return the HTML page about a fitted classifier.

    Parameters
    ----------
    model : classifier
    performance : Performance, optional
        Its performance on rows with known classes.
    weights : array of shape (attributes,), optional
        The mean absolute weight of evidence of each attribute.
    """
    schema = model.schema_
    importance = attribute_importance(model)
    shades = (importance.values / (importance.values.max() or 1.0)).tolist()
    shown = drawings(model, shades)
    content: dict[str, Any] = {
        "className": schema.class_name,
        "classes": [str(label) for label in schema.classes],
        "columns": [{"name": column.name, "labels": list(column.labels)} for column in schema.columns],
        "dates": date_inputs(schema),
        "importance": importance.values.tolist(),
        "drawings": [
            {"path": one.path, "parents": one.parents, "ofClass": one.of_class, "title": one.title} for one in shown
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
        ("network", "Network", _network(shown, importance, too_large)),
        ("importance", "Feature importance", _importance(model, importance, weights)),
        ("classes", "Classes", _classes(model)),
    ]
    if performance is not None:
        name = type(model).__name__
        sections.insert(1, ("performance", "Performance", performance_section(performance, name)))
    sections.append(("about", "Model and attributes", _facts(model)))
    links = "".join(f'<a href="#{key}">{escape(heading)}</a> ' for key, heading, _ in sections)
    body = [
        f'<p class="faint">{escape(_summary(model))}</p>',
        f'<nav aria-label="Sections of this page">{links}</nav>',
        *(
            f'<section id="{key}">\n<h2>{escape(heading)}</h2>\n{content_html}\n</section>'
            for key, heading, content_html in sections
        ),
        f'<script type="application/json" id="page-data">{_json(content)}</script>',
    ]
    script = "".join(_resource(f"script/{name}.js") for name in SCRIPTS)
    title = f"{type(model).__name__} for {schema.class_name}"
    return page(title, "\n".join(body), _resource("report.css"), script)


def _resource(name: str) -> str:
    return files("tanbark.report").joinpath(name).read_text("utf-8")


def _json(content: Any) -> str:
    r"""Return JSON that is safe inside a script element, whatever strings it contains.

    >>> _json("</script>")
    '"\\u003c/script>"'
    """
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("&", "\\u0026")


def _number(value: float) -> float | str:
    """Return a log probability for JSON, which cannot represent the -inf of an impossible class."""
    return value if np.isfinite(value) else "-Infinity"


def _summary(model: CountsClassifier) -> str:
    total, attributes, classes = (
        model.counts_.class_counts.sum(),
        len(model.schema_.columns),
        len(model.schema_.classes),
    )
    return (
        f"Learned from {counted(round(float(total), 1), 'row')} of {counted(attributes, 'attribute')}; "
        f"{classes:,} class{'es' * (classes != 1)}."
    )


def _what_if(model: CountsClassifier, too_large: str, additive: bool) -> str:
    if too_large:
        return f"<p>This page cannot compute answers: {escape(too_large)}. Use predict_proba in Python instead.</p>"
    name = escape(model.schema_.class_name)
    if additive:
        explanation = (
            "Weights of evidence, in nats, centred over the classes. Together with the prior's weight they sum to the "
            "log posterior, up to a constant."
        )
    else:
        explanation = (
            "Weights of evidence, in nats, centred over the classes: the change of the log posterior when each value "
            "was set, after those set before it. Together with the prior's weight they sum to the log posterior, up to "
            "a constant."
        )
    if isinstance(model.model_, EvidenceModel):
        unknown = "An unknown value gives no evidence, and attributes that depend on it are judged without it."
    else:
        unknown = "Unknown values are marginalised."
    if any(column.missing for column in model.schema_.columns):
        unknown += f" A value that is missing in the table is a level of its own, {MISSING_LABEL}."
    return (
        f"<p>Set the known values. {unknown}</p>\n"
        '<p id="trouble" role="alert" hidden>Too many values are unknown to marginalise them exactly; set more '
        "attributes.</p>\n"
        f'<div class="panel"><div>\n<h3 id="answer">{name}</h3>\n'
        '<ul class="answers" id="answers" role="radiogroup" aria-labelledby="answer"></ul>\n'
        f'<p><small>{explanation} Shown for <b id="of-class"></b>, prior <output id="prior-weight"></output>; select '
        'another class to see its weights.</small></p>\n<p id="said" class="unseen" role="status"></p>\n</div>\n<div>\n'
        '<div class="tools"><label>Find <input id="find-attribute" type="search" placeholder="attribute"></label>'
        '<button id="forget" type="button">Reset</button></div>\n'
        '<ul class="moves" id="moves"></ul>\n<p><button id="more-attributes" type="button" hidden></button></p>\n'
        "</div></div>\n<noscript><p>Enable JavaScript to compute answers on this page.</p></noscript>"
    )


def _network(shown: list[Drawing], importance: Importance, too_large: str) -> str:
    click = (
        ""
        if too_large
        else " Click a node, or press Enter on it, to see its table; use the arrow keys to move between nodes."
    )
    parts = [f"<p>The darker a node, the greater its {importance.label}.{click}</p>"]
    before = ""
    for one in shown:
        title = f"<h3>{escape(one.title)}</h3>\n" if one.title else ""
        if one.caption != before:
            title += f"<p>{escape(one.caption)}</p>\n"
        before = one.caption
        parts.append(
            f'{title}<div class="tools"><label>Find <input type="search" placeholder="node"></label>'
            '<button type="button" class="smaller" aria-label="smaller">−</button>'
            '<button type="button" class="larger" aria-label="larger">+</button>'
            '<button type="button" class="whole">Fit width</button></div>\n'
            f'<div class="drawing" role="region" aria-label="Drawing of the network">{one.svg}</div>'
        )
    parts.append('<div id="table" role="region" aria-label="Table of the selected node"></div>')
    return "\n".join(parts)


def _importance(model: CountsClassifier, importance: Importance, weights: Any) -> str:
    names, values = model.schema_.names, importance.values
    order = np.argsort(-values, kind="stable").tolist()
    intro = importance.description
    heads = ["attribute", importance.head, ""]
    if weights is not None:
        intro += " The second column is the mean absolute weight of evidence over the given rows, in nats."
        heads += ["mean |weight|", ""]
    two = " two" if weights is not None else ""

    def line(u: int) -> str:
        cells = _bar(importance.head, values[u], values.max(), "")
        if two:
            cells += _bar("mean |weight|", weights[u], weights.max(), " second")
        return f'<li class="{two.strip()}"><span class="name">{_breakable(names[u])}</span>{cells}</li>'

    head = "".join(f'<span class="head">{word}</span>' for word in heads)
    first = "\n".join(map(line, order[:MAX_LISTED_ATTRIBUTES]))
    parts = [
        f"<p>{intro}</p>",
        f'<ul class="ranks"><li class="headline{two}" aria-hidden="true">{head}</li>{first}</ul>',
    ]
    if len(order) > MAX_LISTED_ATTRIBUTES:
        rest = "\n".join(map(line, order[MAX_LISTED_ATTRIBUTES:]))
        n_more = len(order) - MAX_LISTED_ATTRIBUTES
        parts.append(f'<details><summary>{n_more:,} more</summary><ul class="ranks">{rest}</ul></details>')
    return "\n".join(parts)


def _breakable(name: str) -> str:
    """Return an escaped name with line-break opportunities after punctuation.

    >>> _breakable("a_b<c")
    'a_<wbr>b&lt;c'
    """
    return re.sub(r"(?<=[_\-./])(?=.)", "<wbr>", escape(name), flags=re.DOTALL)


def _bar(label: str, value: float, maximum: float, css_class: str) -> str:
    share = value / maximum if maximum > 0 else 0.0
    return (
        f'<span class="bar{css_class}" aria-hidden="true"><i style="width: {share:.1%}"></i></span>'
        f'<span class="number"><span class="unseen">{label} </span>{value:.4f}</span>'
    )


def _classes(model: CountsClassifier) -> str:
    fitted = model.model_
    intro, base = "The prior probability of each class.", None
    if isinstance(fitted, EvidenceModel):
        base = np.exp(fitted.base_scores - logsumexp(fitted.base_scores))
        intro += (
            " The second column is the probability before any value is known: the prior and a bias that was fitted "
            "with the weights."
        )
    counts = model.counts_.class_counts
    prior = np.exp(model.class_log_prior_)
    lines = []
    for k, label in enumerate(model.schema_.classes):
        cells = _share(prior[k], counted(counts[k], "row"), "")
        if base is not None:
            cells += _share(base[k], "before any value is known", " second")
        two = "" if base is None else ' class="two"'
        lines.append(f'<li{two}><span class="name">{escape(str(label))}</span>{cells}</li>')
    return f'<p>{intro}</p>\n<ul class="ranks">{"".join(lines)}</ul>'


def _share(p: float, title: str, css_class: str) -> str:
    return (
        f'<span class="bar{css_class}" aria-hidden="true"><i style="width: {p:.1%}"></i></span>'
        f'<span class="number" title="{title}">{p:.2%}</span>'
    )


def _facts(model: CountsClassifier) -> str:
    from tanbark import __version__
    from tanbark.schema import Encoder, Number

    schema, counts = model.schema_, model.counts_
    total = counts.class_counts.sum()
    defaults = settings_of(type(model)(encoder=Encoder()))
    given = {name: value for name, value in settings_of(model).items() if value != defaults.get(name)}
    settings = ", ".join(f"{name}={value!r}" for name, value in given.items())
    rows = [
        ("classifier", f"{type(model).__name__}({settings})"),
        ("created with", f"tanbark {__version__}"),
    ]
    columns = []
    for u, column in enumerate(schema.columns):
        kind = "category"
        if isinstance(column, Number):
            kind = "date" if column.is_date else "number"
        missing = max(1.0 - counts.value(u).sum() / total, 0.0) if total else 0.0
        labels = ", ".join(column.labels[:8]) + (f" and {column.arity - 8:,} more" if column.arity > 8 else "")
        columns.append([column.name, kind, f"{column.arity:,}", f"{missing:.1%}", labels])
    attributes = table(["attribute", "kind", "values", "missing", ""], columns)
    return f"{table(['', ''], rows)}\n<details><summary>{len(columns):,} attributes</summary>{attributes}</details>"

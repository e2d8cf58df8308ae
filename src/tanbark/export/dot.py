"""DOT graphs for Graphviz."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers.averaged_tan import AveragedTAN
from tanbark.export.network_description import Path_, written
from tanbark.export.single_network import drawn_network
from tanbark.network import Network
from tanbark.network.edge_strengths import edge_strengths

_THINNEST, _WIDEST = 0.75, 4.0
_PALE = 'color="#c8c8c8"'
_UNPRINTABLE = re.compile("[\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_CONTROL = {code: chr(0x2400 + code) for code in range(32)}


def dot(model: Any, path: Path_ | None = None, threshold: float = 0.05) -> str:
    r"""Return a drawing of a network in the language of graphviz, and write it to a file if there is a path.

    The class is a filled box. An edge is the wider the more the parent tells about the child beyond the child's other
    parents; its tooltip says it in nats. Where the class is above everything its edges are pale.

    An `AveragedTAN` is drawn with all edges between attributes that are at least as probable as `threshold`, the wider
    the more probable, one graph for each class if it is a multinet. The drawing says what is left out.

    Parameters
    ----------
    model : Network, a classifier that is one network, or AveragedTAN
    path : path, optional
    threshold : float
        The probability below which an edge of `AveragedTAN` is left out.

    Examples
    --------
    >>> from tanbark import NaiveBayes
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> print("\n".join(dot(NaiveBayes().fit(X, y)).splitlines()[:7]))
    digraph tanbark {
      node [fontname="Helvetica,sans-serif"];
      n0 [label="x0"];
      n1 [label="x1"];
      n2 [label="x2"];
      n3 [label="x3"];
      n4 [label="class", shape=box, style=filled, fillcolor="#ffe2a8"];
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise ValueError(f"threshold must be a probability, got {threshold!r}")
    lines = _average(model, threshold) if isinstance(model, AveragedTAN) else _network(drawn_network(model, "DOT"))
    return written("\n".join(["digraph tanbark {", *(f"  {line}" for line in lines), "}", ""]), path)


def _network(network: Network) -> Iterator[str]:
    yield 'node [fontname="Helvetica,sans-serif"];'
    yield from _nodes(network.names, "n")
    of_class = network.schema.class_name
    strengths = edge_strengths(network)
    most = max((s for s in strengths.values() if not math.isnan(s)), default=0.0)
    above_all = not network.parents[of_class] and all(of_class in above for above in [*network.parents.values()][:-1])
    place = {name: node for node, name in enumerate(network.names)}
    for (parent, child), strength in strengths.items():
        looks = [_PALE] if above_all and parent == of_class else []
        measured = not math.isnan(strength)
        looks.append(f"penwidth={_width(strength / most if measured and most else 0.0)}")
        looks.append(f'tooltip="{f"{strength:.3f} nats" if measured else "not measured"}"')
        yield f"n{place[parent]} -> n{place[child]} [{', '.join(looks)}];"


def _average(model: AveragedTAN, threshold: float) -> Iterator[str]:
    """Yield the lines of a graph, or of one for each class."""
    check_is_fitted(model)
    names = (*model.schema_.names, model.schema_.class_name)
    said = f"edges with a probability below {threshold:g} are left out"
    yield f'graph [label="{said}", fontname="Helvetica,sans-serif"];'
    yield 'node [fontname="Helvetica,sans-serif"];'
    matrices = model.edge_probabilities_
    # What was learned, whatever `multinet` has been set to since.
    if matrices.ndim == 2:
        yield from _average_graph(names, matrices, threshold, "n")
        return
    for k, (label, matrix) in enumerate(zip(model.schema_.classes, matrices)):
        yield f"subgraph cluster_{k} {{"
        yield f'  label="{_quoted(f"{names[-1]} = {label}")}";'
        for line in _average_graph(names, matrix, threshold, f"c{k}_"):
            yield f"  {line}"
        yield "}"


def _average_graph(names: Sequence[str], matrix: NDArray[np.float64], threshold: float, prefix: str) -> Iterator[str]:
    yield from _nodes(names, prefix)
    of_class = len(names) - 1
    for u in range(of_class):
        yield f"{prefix}{of_class} -> {prefix}{u} [{_PALE}, penwidth={_width(0.0)}];"
    for u in range(of_class):
        for v in range(u + 1, of_class):
            if matrix[u, v] >= threshold and matrix[u, v] > 0:
                shown = f'penwidth={_width(matrix[u, v])}, tooltip="probability {matrix[u, v]:.3f}"'
                yield f"{prefix}{u} -> {prefix}{v} [dir=none, {shown}];"


def _nodes(names: Sequence[str], prefix: str) -> Iterator[str]:
    """Yield a line for each node, the class last."""
    for node, name in enumerate(names):
        looks = ', shape=box, style=filled, fillcolor="#ffe2a8"' if node == len(names) - 1 else ""
        yield f'{prefix}{node} [label="{_quoted(name)}"{looks}];'


def _width(share: float) -> str:
    return f"{_THINNEST + (_WIDEST - _THINNEST) * share:.2f}"


def _quoted(text: str) -> str:
    r"""Return text for a quoted string of DOT; what cannot be printed is shown as its picture.

    >>> print(_quoted('a "b" \\N &lt; \x07'))
    a \"b\" \\N &amp;lt; ␇
    """
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;").replace("\n", "\\n")
    return _UNPRINTABLE.sub("\ufffd", plain.translate(_CONTROL))

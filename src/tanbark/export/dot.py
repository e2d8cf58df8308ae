"""Export networks to DOT, the graph language of Graphviz."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers.averaged_tan import AveragedTAN
from tanbark.export.network_description import PathLike, network_of_model, write_text
from tanbark.network import Network
from tanbark.network.edge_strengths import edge_strengths
from tanbark.shared_docs import insert_shared_docs

_MIN_PENWIDTH, _MAX_PENWIDTH = 0.75, 4.0
_PALE = 'color="#c8c8c8"'
_UNPRINTABLE = re.compile("[\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_CONTROL = {code: chr(0x2400 + code) for code in range(32)}


@insert_shared_docs
def dot(model: Any, path: PathLike | None = None, threshold: float = 0.05) -> str:
    r"""Export the graph of a network to DOT.

    The class is a filled box. The width of an edge shows its strength: the mutual information, in nats, of parent and
    child given the other parents of the child. The tooltip contains the value. If the class is a root and a parent of
    all attributes, its edges are pale.

    For an `AveragedTAN`, the graph has every edge between attributes whose posterior probability is at least
    `threshold`. The width of an edge shows its probability. A multinet has one graph for each class. The label of the
    graph states the threshold.

    Parameters
    ----------
    model : Network, AveragedTAN or classifier
        A network, a fitted `AveragedTAN`, or a fitted classifier that consists of one network.
    {output_path}
    threshold : float, default=0.05
        The probability below which an edge of an `AveragedTAN` is omitted.

    Returns
    -------
    str
        The graph in the DOT language.

    Raises
    ------
    ValueError
        If the classifier is not a single network, or `threshold` is not a probability.

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
        raise ValueError(f"threshold must be a probability from 0 to 1, got {threshold!r}")
    lines = _average(model, threshold) if isinstance(model, AveragedTAN) else _network(network_of_model(model, "DOT"))
    return write_text("\n".join(["digraph tanbark {", *(f"  {line}" for line in lines), "}", ""]), path)


def _network(network: Network) -> Iterator[str]:
    yield 'node [fontname="Helvetica,sans-serif"];'
    yield from _nodes(network.names, "n")
    class_name = network.schema.class_name
    strengths = edge_strengths(network)
    strongest = max((s for s in strengths.values() if not math.isnan(s)), default=0.0)
    attribute_parents = [*network.parents.values()][:-1]
    class_is_common_root = not network.parents[class_name] and all(class_name in p for p in attribute_parents)
    index = {name: node for node, name in enumerate(network.names)}
    for (parent, child), strength in strengths.items():
        attributes = [_PALE] if class_is_common_root and parent == class_name else []
        measured = not math.isnan(strength)
        attributes.append(f"penwidth={_penwidth(strength / strongest if measured and strongest else 0.0)}")
        attributes.append(f'tooltip="{f"{strength:.3f} nats" if measured else "not measured"}"')
        yield f"n{index[parent]} -> n{index[child]} [{', '.join(attributes)}];"


def _average(model: AveragedTAN, threshold: float) -> Iterator[str]:
    """Yield the lines of one graph, or of one graph for each class of a multinet."""
    check_is_fitted(model)
    names = (*model.schema_.names, model.schema_.class_name)
    label = f"edges with a probability below {threshold:g} are left out"
    yield f'graph [label="{label}", fontname="Helvetica,sans-serif"];'
    yield 'node [fontname="Helvetica,sans-serif"];'
    matrices = model.edge_probabilities_
    # The shape shows what was fitted; the parameter `multinet` may have been set since.
    if matrices.ndim == 2:
        yield from _average_graph(names, matrices, threshold, "n")
        return
    for k, (class_label, matrix) in enumerate(zip(model.schema_.classes, matrices, strict=True)):
        yield f"subgraph cluster_{k} {{"
        yield f'  label="{_escape(f"{names[-1]} = {class_label}")}";'
        for line in _average_graph(names, matrix, threshold, f"c{k}_"):
            yield f"  {line}"
        yield "}"


def _average_graph(names: Sequence[str], matrix: NDArray[np.float64], threshold: float, prefix: str) -> Iterator[str]:
    yield from _nodes(names, prefix)
    class_node = len(names) - 1
    for u in range(class_node):
        yield f"{prefix}{class_node} -> {prefix}{u} [{_PALE}, penwidth={_penwidth(0.0)}];"
    for u in range(class_node):
        for v in range(u + 1, class_node):
            if matrix[u, v] >= threshold and matrix[u, v] > 0:
                attributes = f'penwidth={_penwidth(matrix[u, v])}, tooltip="probability {matrix[u, v]:.3f}"'
                yield f"{prefix}{u} -> {prefix}{v} [dir=none, {attributes}];"


def _nodes(names: Sequence[str], prefix: str) -> Iterator[str]:
    """Yield a line for each node, the class last."""
    for node, name in enumerate(names):
        style = ', shape=box, style=filled, fillcolor="#ffe2a8"' if node == len(names) - 1 else ""
        yield f'{prefix}{node} [label="{_escape(name)}"{style}];'


def _penwidth(share: float) -> str:
    return f"{_MIN_PENWIDTH + (_MAX_PENWIDTH - _MIN_PENWIDTH) * share:.2f}"


def _escape(text: str) -> str:
    r"""Escape text for a quoted DOT string; control characters become their Unicode pictures.

    >>> print(_escape('a "b" \\N &lt; \x07'))
    a \"b\" \\N &amp;lt; ␇
    """
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;").replace("\n", "\\n")
    return _UNPRINTABLE.sub("\ufffd", plain.translate(_CONTROL))

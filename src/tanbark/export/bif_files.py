"""BIF: the interchange format of Bayesian networks, as text."""

from __future__ import annotations

import itertools
from typing import IO, Any

from tanbark.export.bif_parser import Parser
from tanbark.export.description import probabilities
from tanbark.export.errors import NetworkFileError
from tanbark.export.single_network import single_network
from tanbark.export.text_files import Path_, read, written
from tanbark.export.variables import described
from tanbark.export.words import bif_label, bif_name, distinct
from tanbark.network import Network


def bif(model: Any, path: Path_ | None = None) -> str:
    """Return a network as BIF, and write it to a file if there is a path.

    Names and labels are words of BIF, as every reader takes them: a character that no word may hold is written
    ``_xHHHH_``, its number in hexadecimal digits (see `tanbark.export.words`), which `read_bif` undoes. The intervals
    of numbers are called ``up_to_30``, ``from_30_to_50`` and ``above_50``. Probabilities have all their digits.
    Properties that begin with ``tanbark_`` say what other readers need not know: the class, the types of labels, the
    cut points of numbers.

    Parameters
    ----------
    model : Network, or a classifier that is one network
    path : path, optional

    Examples
    --------
    >>> from tanbark import NaiveBayes
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> print(bif(NaiveBayes(ess=3).fit(X, y)).splitlines()[2])
    variable x0 {
    """
    network = single_network(model, "BIF")
    variables, tables = described(network.schema), probabilities(network)
    names = distinct((v.name for v in variables), bif_name, str.lower)
    labels = [distinct(v.labels, bif_label) for v in variables]
    lines = ["network tanbark {", "}"]
    for name, words, variable in zip(names, labels, variables):
        lines += [f"variable {name} {{", f"  type discrete [ {len(words)} ] {{ {', '.join(words)} }};"]
        lines += [f"  property {key} = {value} ;" for key, value in variable.properties.items()]
        lines.append("}")
    for node, above in enumerate(network.structure.parents):
        given = f" | {', '.join(names[p] for p in above)}" if above else ""
        lines.append(f"probability ( {names[node]}{given} ) {{")
        rows = tables[node].reshape(-1, len(labels[node])).tolist()
        for values, row in zip(itertools.product(*(labels[p] for p in above)), rows):
            head = f"( {', '.join(values)} )" if above else "table"
            lines.append(f"  {head} {', '.join(map(repr, row))};")
        lines.append("}")
    return written("\n".join([*lines, ""]), path)


def read_bif(source: Path_ | IO[Any], class_name: str | None = None) -> Network:
    """Return the network that a BIF file describes.

    Rows of tables are found by their labels; a ``table`` with parents lists the node's own values slowest, the last
    parent's fastest, as JavaBayes has it. Probabilities that were rounded, so that they sum to 1 within 0.01, are
    scaled. Labels are text, and all columns categories, unless properties that tanbark wrote say otherwise.

    Parameters
    ----------
    source : path or open file
    class_name : str, optional
        Which variable is the class; by default the one that tanbark marked as such.

    Examples
    --------
    >>> import io
    >>> text = '''network asia { }
    ... variable smoke { type discrete [ 2 ] { yes, no }; }
    ... variable lung { type discrete [ 2 ] { yes, no }; }
    ... probability ( smoke ) { table 0.5, 0.5; }
    ... probability ( lung | smoke ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; }
    ... '''
    >>> read_bif(io.StringIO(text), class_name="lung").table("lung").round(6)
    array([[0.1 , 0.9 ],
           [0.01, 0.99]])
    """
    return read(source, lambda content: Parser(_decoded(content)).network(class_name))


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NetworkFileError("this is no text in UTF-8", line) from None

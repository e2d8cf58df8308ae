"""The k-dependence structure of an evidence model (Sahami 1996), on coarse digits, corrected for the bias of counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from graphlib import CycleError, TopologicalSorter
from math import prod

import numpy as np

from tanbark.evidence.questions import Array, Integers
from tanbark.immutable import read_only
from tanbark.kernels.evidence.back_off import class_pair_information
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.messages import suggestion

MAX_TABLE_CELLS = 1 << 20
"""The maximum number of cells of the table of an attribute and its parents."""

Parents = tuple[tuple[int, ...], ...]


def corrected_information(
    digits: Integers, sizes: Integers, classes: Integers, weights: Array, n_classes: int, n_jobs: int | None
) -> Array:
    """Return ``I(a; class)`` on the diagonal and ``I(a; b | class)`` elsewhere, in nats times the total weight.

    Each is reduced by its expectation under independence, half the degrees of freedom, so that attributes of many
    levels have no advantage.
    """
    n = len(digits)
    out = np.zeros((n, n))
    arguments = (read_only(digits), read_only(sizes), read_only(classes), read_only(weights))

    def fill(a: int) -> None:
        for b in range(a + 1):
            out[a, b] = out[b, a] = class_pair_information(*arguments, a, b, n_classes)

    run([partial(fill, a) for a in range(n)], thread_count(n_jobs, n * n * len(classes) // 2))
    return out


def k_dependence_parents(
    information: Array,
    depth: int,
    sizes: Integers,
    arity: Sequence[int],
    n_classes: int,
    noise: Array | None = None,
    max_cells: int = MAX_TABLE_CELLS,
) -> tuple[Parents, Integers]:
    """Return the parents of each attribute, and the attributes in order of their information about the class.

    The parents of an attribute are up to `depth` attributes before it in this order: those of greatest information
    about it given the class, if this is positive. Ties go to column order.

    Parameters
    ----------
    information : array of shape (attributes, attributes)
        The output of `corrected_information`.
    depth : int
    sizes : array of shape (attributes,)
        The number of digits of each attribute.
    arity : sequence of int
    n_classes : int
    noise : array of shape (attributes,), default=None
        Added to the log information about the class, to sample an order.
    max_cells : int, default=MAX_TABLE_CELLS
        An attribute gets no parent with which its table would have more cells.
    """
    n = len(information)
    about_class = np.diagonal(information)
    rank = about_class if noise is None else np.log(np.maximum(about_class, 1e-6)) + noise
    order = np.argsort(-rank, kind="stable")
    parents: list[tuple[int, ...]] = [()] * n
    for place, child in enumerate(order.tolist()):
        before = np.sort(order[:place])
        chosen: list[int] = []
        cells = arity[child] * n_classes
        for parent in before[np.argsort(-information[child, before], kind="stable")].tolist():
            if len(chosen) == depth or not information[child, parent] > 0:
                break
            if cells * int(sizes[parent]) <= max_cells:
                chosen.append(parent)
                cells *= int(sizes[parent])
        parents[child] = tuple(chosen)
    return tuple(parents), order


def check_table_cells(shape: Sequence[int], name: str) -> None:
    """Raise ValueError if the table of an attribute with parents, of this shape, would have too many cells."""
    if len(shape) > 2 and prod(shape) > MAX_TABLE_CELLS:
        raise ValueError(
            f"the table of {name!r} and its parents has {prod(shape):,} cells, more than {MAX_TABLE_CELLS:,}; give it "
            "fewer parents"
        )


def given_parents(edges: Sequence[tuple[str, str]] | None, names: Sequence[str], depth: int) -> Parents | None:
    """Return the parents of each attribute that pairs (parent, child) of names describe, None if `edges` is None.

    Raises
    ------
    ValueError
        If a pair is not one of two columns, an edge is repeated, a column has more than `depth` parents, or the edges
        form a cycle.
    """
    if edges is None:
        return None
    if not isinstance(edges, Sequence | np.ndarray) or isinstance(edges, str):
        raise ValueError(f"structure must be a list of pairs (parent, child) of column names, got {edges!r}")
    place = {name: u for u, name in enumerate(names)}
    parents: list[list[int]] = [[] for _ in names]
    for edge in edges:
        is_pair = isinstance(edge, Sequence | np.ndarray) and len(edge) == 2
        if not is_pair or not all(isinstance(name, str) for name in edge):
            raise ValueError(f"structure must list pairs (parent, child) of column names, got {edge!r}")
        unknown = next((name for name in edge if name not in place), None)
        if unknown is not None:
            instead = suggestion(unknown, place, f"the columns are {', '.join(place)}")
            raise ValueError(f"structure names {unknown!r}, which is not a column; {instead}")
        parent, child = place[edge[0]], place[edge[1]]
        if parent == child:
            raise ValueError(f"structure makes {edge[0]!r} its own parent")
        if parent in parents[child]:
            raise ValueError(f"structure lists the edge from {edge[0]!r} to {edge[1]!r} twice")
        parents[child].append(parent)
        if len(parents[child]) > depth:
            raise ValueError(f"structure gives {edge[1]!r} more than {depth} parents; raise depth")
    try:
        TopologicalSorter(dict(enumerate(parents))).prepare()
    except CycleError as error:
        raise ValueError(f"structure has a cycle through {names[error.args[1][0]]!r}") from None
    return tuple(map(tuple, parents))

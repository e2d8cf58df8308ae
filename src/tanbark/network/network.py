"""Bayesian networks: a structure and its conditional probability tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.drawing.matplotlib_plots import plot_network
from tanbark.drawing.network_pictures import draw, edge_labels, picture
from tanbark.immutable import Immutable, read_only
from tanbark.kernels.infer.posterior import log_evidence
from tanbark.messages import warn
from tanbark.network.edge_strengths import numbered_strengths
from tanbark.network.factor_inference import MAX_TABLE, DrawnAnswerWarning, DrawnValuesWarning, Factors, standard_errors
from tanbark.network.structure import Structure, check_disjoint, directed_graph, node_index, node_set
from tanbark.network.tables import SparseTable
from tanbark.network.tree_inference import Tree
from tanbark.schema import Category, Number, Schema
from tanbark.schema.encode.columns import Codes
from tanbark.schema.encode.sampled_rows import check_sample_options, generator_of, sampled_rows
from tanbark.schema.read.raw_columns import is_missing
from tanbark.shared_docs import insert_shared_docs

if TYPE_CHECKING:
    import networkx

Array = NDArray[np.float64]

MAX_ROUNDING = 1e-9
"""The logarithm of a sum of exact probabilities differs from zero by less."""


@insert_shared_docs
@dataclass(frozen=True, eq=False, repr=False)
class Network(Immutable):
    """Bayesian network over the attributes and the class.

    Networks are immutable.

    Parameters
    ----------
    schema : Schema
        The columns, their values and the classes.
    structure : Structure
        The parents of each node.
    log_tables : tuple of ndarray or SparseTable
        Log probabilities of each attribute and, last, of the class. A table has one axis for each parent, in the order
        of ``structure.parents``, followed by the axis of the node's own values.

    Attributes
    ----------
    names : tuple of str
        Names of the nodes, the class last.
    parents : dict of str to tuple of str
        Names of the parents of each node.
    edges : list of (str, str)
        The edges between attributes, as (parent, child).
    class_log_prior : ndarray of shape (n_classes,)
        ``log P(class)``.
    log_given_class : tuple of ndarray of shape (n_values, n_classes)
        ``log P(value | class)`` of each attribute.

    Notes
    -----
    Missing values are marginalised. In trees this is exact. In other networks it is exact, by variable elimination, if
    no intermediate table needs more than `max_table` cells. Otherwise the missing values are sampled 1,000 times and
    weighted by the likelihood of their known descendants (likelihood weighting). The samples depend only on `seed` and
    are the same for every row. `standard_error` returns the precision of the result.

    Examples
    --------
    >>> from tanbark import TAN
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> network = TAN().fit(X, y).network_
    >>> network.parents["x2"]
    ('x1', 'class')
    >>> answer = network.query("class", {"x3": "reduced"})
    >>> max(answer, key=answer.get)
    'none'
    >>> network.markov_blanket("x2")
    ('x1', 'class')
    >>> network.d_separated("x0", "x2", given=["x1", "class"])
    True
    """

    schema: Schema
    structure: Structure
    log_tables: tuple[Array | SparseTable, ...]

    def __post_init__(self) -> None:
        arity = [*self.schema.arity.tolist(), len(self.schema.classes)]
        if len(self.structure.parents) != len(arity) or len(self.log_tables) != len(arity):
            raise ValueError("a network needs the parents and the table of every column and of the class")
        of_class = len(arity) - 1
        for node, table in enumerate(self.log_tables):
            parents = self.structure.parents[node]
            shape = (*map(arity.__getitem__, parents), arity[node])
            if table.shape != shape:
                raise ValueError(f"the table of node {node} has shape {table.shape}, its parents require {shape}")
            if isinstance(table, SparseTable):
                class_axis = parents.index(of_class) if of_class in parents else None
                if table.class_axis != class_axis:
                    raise ValueError(
                        f"the table of node {node} has the class on axis {table.class_axis}, its parents require "
                        f"{class_axis}"
                    )
        super().__post_init__()

    # Nodes, edges and tables

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the nodes, the class last."""
        return (*self.schema.names, self.schema.class_name)

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """Names of the parents of each node."""
        names = self.names
        return {name: tuple(names[p] for p in ps) for name, ps in zip(names, self.structure.parents, strict=True)}

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The edges between attributes, as (parent, child)."""
        names = self.names
        return [(names[p], names[u]) for u in range(len(names) - 1) for p in self.structure.attribute_parents(u)]

    def table(self, name: str) -> Array:
        """Return the conditional probabilities of a node.

        Parameters
        ----------
        name : str
            Name of the node.

        Returns
        -------
        table : ndarray
            One axis for each parent, followed by the axis of the node's own values.
        """
        table = self.log_tables[self._node(name)]
        probabilities: Array = np.exp(table.dense() if isinstance(table, SparseTable) else table)
        return probabilities

    # Independence

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Return a node's parents, its children and the other parents of its children.

        Given its Markov blanket, a node is independent of all other nodes.

        Parameters
        ----------
        name : str
            Name of the node.

        Returns
        -------
        blanket : tuple of str
            In column order, the class last.
        """
        names = self.names
        return tuple(names[v] for v in self.structure.markov_blanket(self._node(name)))

    def d_separated(self, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()) -> bool:
        """Return whether the structure implies that `a` and `b` are independent given `given`.

        Parameters
        ----------
        a, b : str or iterable of str
            Names of nodes.
        given : str or iterable of str, default=()
            Names of nodes. `a`, `b` and `given` must be disjoint.

        Returns
        -------
        d_separated : bool
        """
        import networkx

        names = self.names
        sets = {
            argument: node_set(argument, nodes, names) for argument, nodes in (("a", a), ("b", b), ("given", given))
        }
        check_disjoint(sets, names)
        return bool(networkx.is_d_separator(self.to_networkx(), sets["a"], sets["b"], sets["given"]))

    def moral_graph(self) -> networkx.Graph:
        """Return the moral graph: undirected, with an edge between the parents of each node.

        Returns
        -------
        graph : networkx.Graph
        """
        import networkx

        return networkx.moral_graph(self.to_networkx())

    def to_networkx(self) -> networkx.DiGraph:
        """Return the structure as a directed graph.

        Returns
        -------
        graph : networkx.DiGraph
            The nodes are names in column order, the class last. Each node has the attributes `labels`, a tuple of its
            values as `query` names them, and `is_class`. Edges lead from parents to children.
        """
        labels = {name: self._labels(node) for node, name in enumerate(self.names)}
        return directed_graph(self.parents, labels, self.schema.class_name)

    # Inference

    @cached_property
    def tree(self) -> Tree | None:
        """The network prepared for inference in trees; None if it is not a tree or has sparse tables."""
        tables = [table for table in self.log_tables if not isinstance(table, SparseTable)]
        if len(tables) < len(self.log_tables) or not self.structure.is_augmented_tree():
            return None
        return Tree.of(self.structure, self.schema.arity, tables)

    @cached_property
    def factors(self) -> Factors:
        """The network prepared for inference in networks of any structure."""
        return Factors.of(self.structure, self.schema.arity, len(self.schema.classes), self.log_tables)

    @cached_property
    def class_log_prior(self) -> Array:
        """``log P(class)``, of shape (n_classes,)."""
        table = self.log_tables[-1]
        if not isinstance(table, SparseTable) and not self.structure.parents[-1]:
            return table
        log_prior = self.log_joint(self._unknown())[0]
        log_total = np.logaddexp.reduce(log_prior)
        # Each class has its own samples if the marginal is estimated, so that the estimates need not sum to one.
        return read_only(log_prior - log_total if MAX_ROUNDING < abs(log_total) < np.inf else log_prior)

    @cached_property
    def log_given_class(self) -> tuple[Array, ...]:
        """``log P(value | class)`` of each attribute, of shape (n_values, n_classes)."""
        if self.tree is not None:
            return tuple(self.tree.log_given_class)
        return tuple(self.factors.log_given_class(-1, MAX_TABLE, 0)[1])

    def log_joint(self, codes: Codes, n_jobs: int | None = None, *, max_table: int = MAX_TABLE, seed: int = 0) -> Array:
        """Return ``log P(row, class)`` of encoded rows, with missing values marginalised.

        A `DrawnValuesWarning` is issued if missing values are sampled.

        {inference_options}

        Returns
        -------
        log_joint : ndarray of shape (n_rows, n_classes)
        """
        self.schema.check_codes(codes)
        _check_sampling(max_table, seed)
        codes = np.ascontiguousarray(codes)
        if self.tree is not None:
            return self.tree.log_joint(codes, n_jobs)
        joint, sampled, _ = self.factors.log_joint(codes, n_jobs, max_table, seed)
        if sampled.any():
            warn(DrawnValuesWarning(int(sampled.sum())))
        return joint

    def standard_error(
        self,
        codes: Codes,
        n_jobs: int | None = None,
        *,
        max_table: int = MAX_TABLE,
        seed: int = 0,
        log_factors: Array | float = 0.0,
    ) -> Array:
        """Return the standard errors of the posterior probabilities of the classes.

        {inference_options}
        log_factors : ndarray of shape (n_classes,) or float, default=0.0
            Logarithms of factors by which the joint probabilities of the classes are multiplied.

        Returns
        -------
        standard_error : ndarray of shape (n_rows, n_classes)
            Zero for rows with exact probabilities.
        """
        self.schema.check_codes(codes)
        out = np.zeros((codes.shape[1], len(self.schema.classes)))
        if self.tree is not None:
            return out
        joint, sampled, variance = self.factors.log_joint(codes, n_jobs, max_table, seed)
        joint += log_factors
        out[sampled] = standard_errors(joint[sampled, :, None], variance[sampled, :, None])
        return out

    def evidence(self, codes: Codes, n_jobs: int | None = None, *, max_table: int = MAX_TABLE, seed: int = 0) -> Array:
        """Return the contribution of each attribute to the log joint.

        A `DrawnValuesWarning` is issued if missing values are sampled.

        {inference_options}

        Returns
        -------
        evidence : ndarray of shape (n_rows, 1 + n_attributes, n_classes)
            The prior comes first. The sum over the middle axis is the log joint. Joint contributions of several
            attributes are divided equally among them. Missing attributes contribute zero.
        """
        self.schema.check_codes(codes)
        if self.tree is not None:
            return self.tree.evidence(codes)
        parts, sampled = self.factors.evidence(codes, n_jobs, max_table, seed)
        if sampled.any():
            warn(DrawnValuesWarning(int(sampled.sum())))
        return parts

    def query(
        self,
        target: str,
        evidence: Mapping[str, Any] | None = None,
        *,
        max_table: int = MAX_TABLE,
        seed: int = 0,
    ) -> dict[Any, float]:
        """Return the distribution of a node given the values of other nodes.

        Parameters
        ----------
        target : str
            Name of an attribute or of the class.
        evidence : mapping of str to values, default=None
            Known values of other nodes by name. All other nodes, and those with the value None, are marginalised.
        max_table : int, default=2**20
            Maximum number of cells of a table in exact inference; beyond it, values are sampled and a
            `DrawnAnswerWarning` states the standard error.
        seed : int, default=0
            Seed of the samples.

        Returns
        -------
        probabilities : dict
            Probability of each value of the target. The keys are the labels of a category or the intervals of a
            number; None is the level of missing values, if the schema has one.
        """
        known = self._checked_evidence(target, evidence)
        _check_sampling(max_table, seed)
        class_name = self.schema.class_name
        row = self._unknown()
        for name, value in known.items():
            if name != class_name:
                row[self.schema.index(name)] = self._code(name, value)
        classes = slice(None)
        if class_name in known:
            k = int(self.schema.encode_target([known[class_name]])[0])
            classes = slice(k, k + 1)
        rows = row
        if target != class_name:
            u = self.schema.index(target)
            arity = self.schema.columns[u].arity
            rows = np.repeat(row, arity, axis=1)
            rows[u] = np.arange(arity)
        if self.tree is not None:
            joint, variance = self.tree.log_joint(rows, None), None
        else:
            joint, sampled, variance = self.factors.log_joint(rows, None, max_table, seed)
            variance = variance if sampled.any() else None
        # One row for each value of the target, one column for each possible class.
        joint = joint.T if target == class_name else joint[:, classes]
        if variance is not None:
            variance = variance.T if target == class_name else variance[:, classes]
            warn(DrawnAnswerWarning(float(standard_errors(joint[None], variance[None]).max())))
        marginal = np.empty(len(joint))
        log_evidence(np.ascontiguousarray(joint), 0, len(joint), marginal)
        return _normalised(self._labels(self._node(target)), marginal, known)

    # Sampling

    def sample_codes(self, n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sample encoded rows from the joint distribution.

        Parameters
        ----------
        n : int
            Number of rows.
        rng : numpy.random.Generator

        Returns
        -------
        codes : ndarray of shape (n_attributes, n)
        classes : ndarray of shape (n,)
            Indices into ``schema.classes``.
        """
        values = np.zeros((len(self.names), n), np.int64)
        for node in self.structure.topological_order():
            parent_values = tuple(values[p] for p in self.structure.parents[node])
            table = self.log_tables[node]
            log_rows = table.at(parent_values) if isinstance(table, SparseTable) else table[parent_values]
            probabilities = np.exp(log_rows)
            cumulative = np.cumsum(np.broadcast_to(probabilities, (n, probabilities.shape[-1])), axis=1)
            point = rng.random(n) * cumulative[:, -1]
            values[node] = (cumulative <= point[:, None]).sum(axis=1)
        return values[:-1], values[-1]

    def sample(self, n: int = 1, random_state: Any = None, as_frame: str | None = None) -> tuple[Any, Any]:
        """Sample rows from the joint distribution.

        Parameters
        ----------
        {sample_options}
        """
        check_sample_options(n, as_frame)
        rng = generator_of(random_state)
        codes, classes = self.sample_codes(int(n), rng)
        return sampled_rows(self.schema, codes, classes, rng, as_frame)

    # Representation

    def __repr__(self) -> str:
        return f"<Network of {len(self.names) - 1} attributes and the class {self.schema.class_name!r}>"

    def __str__(self) -> str:
        return draw(self.names, self.structure)

    def _repr_html_(self) -> str:
        """Return the SVG drawing that notebooks display."""
        strengths = numbered_strengths(self)
        drawing = picture(self.names, self.structure, strengths, edge_labels(self.names, strengths))
        return f'<div style="max-height: 32em; overflow: auto">{drawing}</div>'

    def plot(self, ax: Any = None) -> Any:
        """Plot the network with matplotlib, in layers from left to right.

        Thick edges carry much information. If the class is a parent of every attribute, its edges are left out.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None creates new ones.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        return plot_network(self.names, self.structure, numbered_strengths(self), ax)

    # Helpers

    def _node(self, name: str) -> int:
        """Return the number of the node with this name."""
        return node_index(name, self.names)

    def _labels(self, node: int) -> tuple[Any, ...]:
        """Return the values of a node: the labels of a category, the intervals of a number, None for missing."""
        if node == self.structure.of_class:
            return self.schema.classes
        column = self.schema.columns[node]
        labels: list[Any] = list(column.labels)
        if isinstance(column, Category):
            labels[: len(column.levels)] = column.levels
        if column.missing:
            labels[-1] = None
        return tuple(labels)

    def _unknown(self) -> Codes:
        """Return the codes of a single row in which all values are missing."""
        return np.full((len(self.schema.columns), 1), self.schema.missing_code, self.schema.dtype)

    def _checked_evidence(self, target: str, evidence: Mapping[str, Any] | None) -> dict[str, Any]:
        """Validate the names in a query and return the evidence without missing values."""
        if not isinstance(evidence, Mapping | None):
            raise TypeError(f"evidence must map names to values, got {type(evidence).__name__!r}")
        known = {name: value for name, value in (evidence or {}).items() if not is_missing(value)}
        for name in (target, *known):
            self._node(name)
        if target in known:
            raise ValueError(f"{target!r} is both the target and part of the evidence; remove it from one of them")
        return known

    def _code(self, name: str, value: Any) -> int:
        """Return the code of a column's value, or raise an error if the column cannot have this value."""
        column = self.schema.columns[self.schema.index(name)]
        if not isinstance(value, str | int | float | np.generic):
            raise TypeError(f"the evidence for {name!r} must be a single value, got {type(value).__name__!r}")
        code = int(column.codes_of([value])[0])
        if code < 0:
            expected = ", ".join(map(repr, column.labels))
            raise ValueError(f"invalid value {value!r} for {name!r}: expected one of {expected}")
        if isinstance(column, Number) and not np.isfinite(value):
            raise ValueError(f"invalid value {value!r} for {name!r}: expected a finite number")
        return code


def _normalised(labels: Sequence[Any], log_weights: Array, evidence: Mapping[str, Any]) -> dict[Any, float]:
    """Return the probability of each label, or raise ValueError if all weights are zero."""
    largest = log_weights.max()
    if largest == -np.inf:
        raise ValueError(f"the evidence {dict(evidence)} has probability zero under the network")
    weights = np.exp(log_weights - largest)
    return dict(zip(labels, (weights / weights.sum()).tolist(), strict=True))


def _check_sampling(max_table: Any, seed: Any) -> None:
    """Raise ValueError if `max_table` or `seed` is invalid."""
    for name, value in (("max_table", max_table), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(f"{name} must be a whole number of at least 0, got {value!r}")

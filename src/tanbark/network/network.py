"""A Bayesian network: structure and tables, immutable, and the questions it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.drawing.matplotlib_plots import plot_network
from tanbark.drawing.network_pictures import draw, picture, told_words
from tanbark.graph import Structure, check_disjoint, directed_graph, named, position
from tanbark.immutable import CopiedByFields
from tanbark.kernels.infer.posterior import log_evidence
from tanbark.kernels.runtime.compiling import frozen
from tanbark.network.edge_strengths import numbered_strengths
from tanbark.network.factor_inference import MAX_TABLE, DrawnAnswerWarning, DrawnValuesWarning, Factors, standard_errors
from tanbark.network.tables import SparseTable
from tanbark.network.tree_inference import Tree
from tanbark.schema import Category, Number, Schema
from tanbark.schema.encode.columns import Codes
from tanbark.schema.read.object_columns import is_missing
from tanbark.user_warnings import warn

if TYPE_CHECKING:
    import networkx

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Network(CopiedByFields):
    """The class and the attributes, what each depends on, and how.

    Parameters
    ----------
    schema : Schema
    structure : Structure
    log_tables : tuple of arrays or SparseTables
        For each attribute and, last, the class: the log probability of its values, one axis per parent (in the order of
        ``structure.parents``) and its own values last.

    Notes
    -----
    What is missing is summed out exactly: in trees always, in other networks by eliminating one attribute after the
    other while that needs no table of more than `max_table` cells. Where it would, missing values are drawn 1,000 times
    (the same draws for every row, decided by `seed`) and weighed by the known values below them; `standard_error` says
    how precise that is.

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
        for node, table in enumerate(self.log_tables):
            above = self.structure.parents[node]
            shape = (*map(arity.__getitem__, above), arity[node])
            if table.shape != shape:
                raise ValueError(f"the table of node {node} has shape {table.shape}, its parents ask for {shape}")
            if isinstance(table, SparseTable):
                of_class = above.index(len(arity) - 1) if len(arity) - 1 in above else None
                if table.class_axis != of_class:
                    raise ValueError(f"the table of node {node} has the class on another axis than its parents ask for")
        tables = tuple(table if isinstance(table, SparseTable) else frozen(table) for table in self.log_tables)
        object.__setattr__(self, "log_tables", tables)

    @cached_property
    def tree(self) -> Tree | None:
        """The network laid out for inference in trees; None where it is none, or has sparse tables."""
        tables = [table for table in self.log_tables if not isinstance(table, SparseTable)]
        if len(tables) < len(self.log_tables) or not self.structure.is_augmented_tree():
            return None
        return Tree.of(self.structure, self.schema.arity, tables)

    @cached_property
    def factors(self) -> Factors:
        """The network laid out for inference in networks of any shape."""
        return Factors.of(self.structure, self.schema.arity, len(self.schema.classes), self.log_tables)

    @cached_property
    def class_log_prior(self) -> Array:
        """``log P(class)``, all attributes summed out."""
        table = self.log_tables[-1]
        if not isinstance(table, SparseTable) and not self.structure.parents[-1]:
            return table
        return frozen(self.log_joint(self._unknown())[0])

    @cached_property
    def log_given_class(self) -> tuple[Array, ...]:
        """For every attribute ``log P(value | class)``, of shape (values, classes), all else summed out."""
        if self.tree is not None:
            return tuple(self.tree.alone)
        return tuple(self.factors.alone(-1, MAX_TABLE, 0)[1])

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes' names, the class last."""
        return (*self.schema.names, self.schema.class_name)

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """For every node the names of the nodes it depends on."""
        names = self.names
        return {name: tuple(names[p] for p in above) for name, above in zip(names, self.structure.parents)}

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The edges between attributes, parent first."""
        names = self.names
        return [(names[p], names[u]) for u in range(len(names) - 1) for p in self.structure.attribute_parents(u)]

    def table(self, name: str) -> Array:
        """Return a node's conditional probabilities, one axis per parent and its own values last."""
        table = self.log_tables[self._node(name)]
        probabilities: Array = np.exp(table.dense() if isinstance(table, SparseTable) else table)
        return probabilities

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Return the nodes that a node depends on once they are known: parents, children, the children's other parents.

        They are in column order, the class last.
        """
        names = self.names
        return tuple(names[v] for v in self.structure.markov_blanket(self._node(name)))

    def d_separated(self, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()) -> bool:
        """Return whether the structure alone makes `a` and `b` independent once `given` is known.

        Parameters
        ----------
        a, b, given : a name or several names
            No node may be part of two of them.
        """
        import networkx

        names = self.names
        sets = {what: named(what, nodes, names) for what, nodes in (("a", a), ("b", b), ("given", given))}
        check_disjoint(sets, names)
        return bool(networkx.is_d_separator(self.to_networkx(), sets["a"], sets["b"], sets["given"]))

    def moral_graph(self) -> networkx.Graph:
        """Return the undirected graph in which parents of the same node are joined too."""
        import networkx

        return networkx.moral_graph(self.to_networkx())

    def to_networkx(self) -> networkx.DiGraph:
        """Return the structure as a graph: nodes by name, in column order, the class last; edges lead from parents.

        A node has the attributes `labels`, a tuple of its values as `query` names them, and `is_class`.
        """
        labels = {name: self._labels(node) for node, name in enumerate(self.names)}
        return directed_graph(self.parents, labels, self.schema.class_name)

    def log_joint(self, codes: Codes, n_jobs: int | None = None, *, max_table: int = MAX_TABLE, seed: int = 0) -> Array:
        """Return ``log P(row, class)`` of encoded rows, one column per class, what is missing being summed out."""
        joint, drawn = self._log_joint(codes, n_jobs, max_table, seed)
        if drawn:
            warn(DrawnValuesWarning(drawn))
        return joint

    def _log_joint(self, codes: Codes, n_jobs: int | None, max_table: int, seed: int) -> tuple[Array, int]:
        """Return ``log P(row, class)``, and how many rows of it are estimates."""
        self.schema.check_codes(codes)
        _check_draws(max_table, seed)
        codes = np.ascontiguousarray(codes)
        if self.tree is not None:
            return self.tree.log_joint(codes, n_jobs), 0
        joint, drawn, _ = self.factors.log_joint(codes, n_jobs, max_table, seed)
        return joint, int(drawn.sum())

    def standard_error(
        self,
        codes: Codes,
        n_jobs: int | None = None,
        *,
        max_table: int = MAX_TABLE,
        seed: int = 0,
        log_factors: Array | float = 0.0,
    ) -> Array:
        """Return the standard error of every class's posterior probability: zero but for rows whose sum is drawn.

        The joints may be multiplied by a factor for each class, given by its logarithm.
        """
        self.schema.check_codes(codes)
        out = np.zeros((codes.shape[1], len(self.schema.classes)))
        if self.tree is not None:
            return out
        joint, drawn, variance = self.factors.log_joint(codes, n_jobs, max_table, seed)
        joint += log_factors
        out[drawn] = standard_errors(joint[drawn, :, None], variance[drawn, :, None])
        return out

    def evidence(self, codes: Codes, n_jobs: int | None = None, *, max_table: int = MAX_TABLE, seed: int = 0) -> Array:
        """Return what each attribute contributes to the log joint, of shape (rows, 1 + attributes, classes).

        The prior is first; the sum over the middle axis is the log joint. What several attributes say together is
        shared by them equally; an attribute that is missing says nothing itself.
        """
        self.schema.check_codes(codes)
        if self.tree is not None:
            return self.tree.evidence(codes)
        parts, drawn = self.factors.evidence(codes, n_jobs, max_table, seed)
        if drawn.any():
            warn(DrawnValuesWarning(int(drawn.sum())))
        return parts

    def query(
        self,
        target: str,
        evidence: Mapping[str, Any] | None = None,
        *,
        max_table: int = MAX_TABLE,
        seed: int = 0,
    ) -> dict[Any, float]:
        """Return the probabilities of the target's values given the values of any other nodes.

        Keys are the labels of a category and the intervals of a number; None is the level of missing values, where the
        schema has one.

        Parameters
        ----------
        target : str
            The name of an attribute or of the class.
        evidence : mapping of names to values
            What is known; a value of None is not known. All else is summed out.
        max_table, seed : int
            Up to which size of table that is done exactly, and what draws depend on beyond; a warning then says how
            precise the answer is.
        """
        if not isinstance(evidence, Mapping | None):
            raise TypeError(f"evidence must map names to values, got {type(evidence).__name__!r}")
        evidence = {name: value for name, value in (evidence or {}).items() if not is_missing(value)}
        for name in (target, *evidence):
            self._node(name)
        if target in evidence:
            raise ValueError(f"{target!r} is the target and part of the evidence; leave it out of one of them")
        row = self._unknown()
        for name, value in evidence.items():
            if name != self.schema.class_name:
                row[self.schema.index(name)] = self._code(name, value)
        classes = slice(None)
        if self.schema.class_name in evidence:
            at = int(self.schema.encode_target([evidence[self.schema.class_name]])[0])
            classes = slice(at, at + 1)
        rows = row
        if target != self.schema.class_name:
            u = self.schema.index(target)
            column = self.schema.columns[u]
            rows = np.repeat(row, column.arity, axis=1)
            rows[u] = np.arange(column.arity)
        _check_draws(max_table, seed)
        if self.tree is not None:
            joint, variance = self.tree.log_joint(rows, None), None
        else:
            joint, drawn, variance = self.factors.log_joint(rows, None, max_table, seed)
            variance = variance if drawn.any() else None
        # One row for each of the target's values, one column for each class that may be.
        joint = joint.T if target == self.schema.class_name else joint[:, classes]
        if variance is not None:
            variance = variance.T if target == self.schema.class_name else variance[:, classes]
            warn(DrawnAnswerWarning(float(standard_errors(joint[None], variance[None]).max())))
        marginal = np.empty(len(joint))
        log_evidence(np.ascontiguousarray(joint), 0, len(joint), marginal)
        return self._normalised(self._labels(self._node(target)), marginal, evidence)

    def _node(self, name: str) -> int:
        """Return the number of the node of this name."""
        return position(name, self.names)

    def _labels(self, node: int) -> tuple[Any, ...]:
        """Return what a node's values are called: labels of a category, intervals of a number, None for missing."""
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
        """Return the codes of one row of which nothing is known."""
        return np.full((len(self.schema.columns), 1), self.schema.missing_code, self.schema.dtype)

    def _code(self, name: str, value: Any) -> int:
        """Return the code of a value of a column; a value that it cannot have is an error."""
        column = self.schema.columns[self.schema.index(name)]
        if not isinstance(value, str | int | float | np.generic):
            raise TypeError(f"{name!r} needs one value as evidence, got {type(value).__name__!r}")
        code = int(column.codes_of([value])[0])
        if code < 0:
            raise ValueError(f"{name!r} cannot be {value!r}; it is one of {', '.join(map(repr, column.labels))}")
        if isinstance(column, Number) and not np.isfinite(value):
            raise ValueError(f"{name!r} cannot be {value!r}; give a finite number")
        return code

    @staticmethod
    def _normalised(labels: Sequence[Any], log_weights: Array, evidence: Mapping[str, Any]) -> dict[Any, float]:
        largest = log_weights.max()
        if largest == -np.inf:
            raise ValueError(f"the evidence {dict(evidence)} has probability zero, so nothing follows from it")
        weights = np.exp(log_weights - largest)
        return dict(zip(labels, (weights / weights.sum()).tolist()))

    def sample_codes(self, n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return codes of `n` rows drawn from the joint distribution, and their classes."""
        nodes = len(self.names)
        drawn = np.zeros((nodes, n), np.int64)
        for node in self.structure.topological_order():
            above = tuple(drawn[p] for p in self.structure.parents[node])
            table = self.log_tables[node]
            probabilities = np.exp(table.at(above) if isinstance(table, SparseTable) else table[above])
            cumulative = np.cumsum(np.broadcast_to(probabilities, (n, probabilities.shape[-1])), axis=1)
            point = rng.random(n) * cumulative[:, -1]
            drawn[node] = (cumulative <= point[:, None]).sum(axis=1)
        return drawn[:-1], drawn[-1]

    def sample(self, n: int = 1, random_state: Any = 0) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return `n` rows drawn from the joint distribution, and their classes.

        Labels are drawn as they are, numbers uniformly from their interval; the outer intervals end where the training
        data did.
        """
        if not isinstance(n, int | np.integer) or n < 0:
            raise ValueError(f"the number of rows to draw must be a whole number of at least 0, got {n!r}")
        rng = np.random.default_rng(random_state)
        codes, classes = self.sample_codes(int(n), rng)
        return self.schema.decode(codes, rng), self.schema.class_labels[classes]

    def __repr__(self) -> str:
        return f"<Network of {len(self.names) - 1} attributes and the class {self.schema.class_name!r}>"

    def __str__(self) -> str:
        return draw(self.names, self.structure)

    def _repr_html_(self) -> str:
        """Return the drawing that a notebook shows."""
        strengths = numbered_strengths(self)
        drawing = picture(self.names, self.structure, strengths, told_words(self.names, strengths))
        return f'<div style="max-height: 32em; overflow: auto">{drawing}</div>'

    def plot(self, ax: Any = None) -> Any:
        """Return matplotlib axes with the network, layers from left to right; thick edges tell much.

        Where the class is above every attribute its edges are left out.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; new axes, if not given.
        """
        return plot_network(self.names, self.structure, numbered_strengths(self), ax)


def _check_draws(max_table: Any, seed: Any) -> None:
    for name, value in (("max_table", max_table), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(f"{name} must be a whole number of at least 0, got {value!r}")

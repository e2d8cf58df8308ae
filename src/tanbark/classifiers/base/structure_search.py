"""Search for a structure as `BayesNet` and `AugmentedNaiveBayes` do, with the parameters they share."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from tanbark.classifiers.base.validation import check_choice, check_flag, check_number, seed_of
from tanbark.classifiers.base.weight_warnings import warn_of_tiny_weights_for_search
from tanbark.counts import Counts, Rows
from tanbark.counts.family_counts import MAX_CELL_KEYS
from tanbark.messages import counted, warn
from tanbark.models import Findings
from tanbark.network import Network, Structure
from tanbark.parameters import estimated_networks
from tanbark.progress import progress_bar
from tanbark.schema import Schema
from tanbark.scores import CRITERIA, Cases
from tanbark.structure import SEARCHES, Restrictions, searched_structure


def validate_search(classifier: Any) -> None:
    """Raise an error that names the first invalid parameter of a search."""
    check_choice("search", classifier.search, SEARCHES)
    check_choice("criterion", classifier.criterion, CRITERIA)
    if classifier.search == "exact" and not CRITERIA[classifier.criterion](float(classifier.ess)).is_decomposable:
        raise ValueError(
            f"search='exact' needs a criterion that is a sum over families, and {classifier.criterion!r} is not; "
            "set search to 'greedy'"
        )
    max_memory = classifier.max_memory
    number = isinstance(max_memory, Real | np.number) and not isinstance(max_memory, bool)
    if max_memory is not None and not (number and 0 < max_memory <= 1e100):
        raise ValueError(f"max_memory must be a number of bytes above 0, or None, got {max_memory!r}")
    if classifier.max_parents is not None:
        check_number("max_parents", classifier.max_parents, 0)
    check_number("tabu", classifier.tabu, 0)
    check_number("restarts", classifier.restarts, 0)
    check_flag("verbose", classifier.verbose)


def restrictions_of(classifier: Any, schema: Schema, class_above_all: bool) -> Restrictions:
    """Return the restrictions that the parameters of a classifier put on structures."""
    names = (*schema.names, schema.class_name)
    return Restrictions.of(names, classifier.forbidden, classifier.required, classifier.max_parents, class_above_all)


def check_required_families(restrictions: Restrictions, schema: Schema) -> None:
    """Raise ValueError if a node and its required parents have too many configurations to number."""
    names, arity = (*schema.names, schema.class_name), [*schema.arity.tolist(), len(schema.classes)]
    for node, name in enumerate(names):
        # A column with missing values has one more level in the search.
        parents = np.flatnonzero(restrictions.required[:, node]).tolist()
        if math.prod(arity[v] + 1 for v in (node, *parents)) >= MAX_CELL_KEYS:
            raise ValueError(
                f"{name!r} and its required parents have more combinations of values than can be numbered; "
                "require fewer edges"
            )


def search_network(classifier: Any, counts: Counts, rows: Rows, class_above_all: bool) -> tuple[Network, Findings]:
    """Return the network of the best structure that is found, with its score and the search that found it."""
    warn_of_tiny_weights_for_search(rows)
    cases, score = Cases.of(rows), CRITERIA[classifier.criterion](float(classifier.ess))
    with progress_bar(classifier.verbose) as progress:
        structure, search = searched_structure(
            cases,
            score,
            restrictions_of(classifier, counts.schema, class_above_all),
            classifier.search,
            tabu=int(classifier.tabu),
            restarts=int(classifier.restarts),
            max_memory=None if classifier.max_memory is None else float(classifier.max_memory),
            seed=seed_of(classifier.random_state),
            n_jobs=classifier.n_jobs,
            progress=progress,
        )
    _warn_of_large_tables(classifier, counts.schema, structure, rows)
    return scored_network(classifier, counts, rows, structure, score.total(cases, structure), search)


def _warn_of_large_tables(classifier: Any, schema: Schema, structure: Structure, rows: Rows) -> None:
    """Warn if a node with at least two parents has a table with more cells than there are rows."""
    n_rows = int((rows.each > 0).sum())
    arity = [*schema.arity.tolist(), len(schema.classes)]
    cells = [math.prod(arity[v] for v in (node, *above)) for node, above in enumerate(structure.parents)]
    large = [node for node, above in enumerate(structure.parents) if len(above) > 1 and cells[node] > n_rows]
    if not large:
        return
    node = max(large, key=cells.__getitem__)
    names = (*schema.names, schema.class_name)
    cures = [] if classifier.criterion == "bic" else ["criterion='bic'"]
    if not classifier.required:
        cures.append(f"max_parents={min(_parents_that_fit(v, structure, arity, n_rows) for v in large)}")
    warn(
        f"{names[node]!r} has {len(structure.parents[node])} parents and a table of {cells[node]:,} cells for "
        f"{counted(n_rows, 'row')}, so that most of its probabilities are guesses; "
        + (f"set {' or '.join(cures)}" if cures else "require fewer edges")
    )


def _parents_that_fit(node: int, structure: Structure, arity: list[int], n_rows: int) -> int:
    """Return how many of the parents of a node, those with the most values first, a table for the rows can have."""
    cells, fitting = arity[node], 0
    for size in sorted((arity[v] for v in structure.parents[node]), reverse=True):
        cells *= size
        fitting += cells <= n_rows
    return max(fitting, 1)


def scored_network(
    classifier: Any, counts: Counts, rows: Rows, structure: Structure, log_score: float, search: str | None = None
) -> tuple[Network, Findings]:
    """Return the network of a structure, with the score of the structure and the search that found it."""
    ess = float(classifier.ess)
    network = estimated_networks(counts, rows, [structure], classifier.parameters, ess, classifier.n_jobs)[0]
    return network, Findings(log_score=log_score, search=search)


def why_search_needs_rows(classifier: Any) -> str:
    """Return why a searched network cannot be learned from counts of pairs."""
    return f"{type(classifier).__name__} counts families of several attributes from the rows; call fit with all rows"

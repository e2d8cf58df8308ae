"""How probable the counts are before any tree is thought of."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from tanbark.counts import Counts


def log_evidence_without_edges(counts: Counts, ess: float) -> float:
    """Return the log evidence of naive Bayes: the classes, and each attribute's values given the class.

    Dirichlet priors of `ess` rows spread evenly over the cells of a table. A missing value is left out of the evidence.
    """
    classes = len(counts.class_counts)
    of_class = ess / classes
    seen = counts.values.astype(np.float64)
    cell = np.repeat(of_class / counts.schema.arity, counts.schema.arity)
    in_class = np.add.reduceat(seen, counts.schema.offset[:-1], axis=1)
    total = float(counts.class_counts.sum())
    return float(
        gammaln(ess)
        - gammaln(ess + total)
        + (gammaln(of_class + counts.class_counts) - gammaln(of_class)).sum()
        + (gammaln(cell + seen) - gammaln(cell)).sum()
        - (gammaln(of_class + in_class) - gammaln(of_class)).sum()
    )

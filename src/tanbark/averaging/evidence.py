"""How probable the counts are before any tree is thought of."""

from __future__ import annotations

import numpy as np

from tanbark.counts import Counts
from tanbark.kernels.evidence import sequence_evidence, values_evidence


def log_evidence_without_edges(counts: Counts, ess: float) -> float:
    """Return the log evidence of naive Bayes: the classes, and each attribute's values given the class.

    Dirichlet priors of `ess` rows spread evenly over the cells of a table. A missing value is left out of the evidence.
    """
    of_class = sequence_evidence(counts.class_counts.astype(np.float64), ess / len(counts.class_counts))
    return float(of_class + values_evidence(counts.values.astype(np.float64), counts.schema.offset, ess))

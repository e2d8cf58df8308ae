"""How a number is divided into intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.schema.encode.mdlp import mdlp_cuts
from tanbark.schema.encode.modl import RowClasses, modl_cuts
from tanbark.schema.encode.quantiles import quantile_cuts, width_cuts


@dataclass(frozen=True)
class Binning:
    """How a number is divided into intervals.

    Parameters
    ----------
    method : {"quantile", "width", "mdlp", "modl", "given"}
        The method; see `Encoder`. "given" takes the cut points in `given`.
    max_bins : int
        Maximum number of intervals. Ignored by "mdlp" and "given".
    given : tuple of float, default=()
        Given cut points.
    """

    method: str
    max_bins: int
    given: tuple[float, ...] = ()

    @property
    def is_supervised(self) -> bool:
        """Whether the cut points depend on the classes."""
        return self.method in ("mdlp", "modl")

    def cuts(
        self, values: NDArray[np.float64], classes: RowClasses, weights: NDArray[np.float64] | None
    ) -> list[float]:
        """Return the cut points of a column.

        Parameters
        ----------
        values : ndarray of shape (rows,)
            Numbers, without NaN.
        classes : RowClasses
            The class of each row.
        weights : ndarray of shape (rows,) or None
            Weight of each row.

        Returns
        -------
        cuts : list of float
            Cut points in ascending order.
        """
        if self.method == "given":
            return list(self.given)
        if self.method == "quantile":
            return quantile_cuts(values, weights, self.max_bins)
        if self.method == "width":
            return width_cuts(values, self.max_bins)
        if self.method == "mdlp":
            return mdlp_cuts(values, classes.codes, weights, classes.n_classes)
        return modl_cuts(values, classes, weights, self.max_bins)

"""Estimating tables from counts, for a given structure."""

from tanbark.parameters.dirichlet import raked_pair, smoothed_values
from tanbark.parameters.pair_ratios import pair_ratios
from tanbark.parameters.tree_tables import PARAMETERS, tree_tables

__all__ = ["PARAMETERS", "pair_ratios", "raked_pair", "smoothed_values", "tree_tables"]

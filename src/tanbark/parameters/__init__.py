"""Estimating tables from counts, for a given structure."""

from tanbark.parameters.conditional import PARAMETERS
from tanbark.parameters.dirichlet import raked_pair, smoothed_values
from tanbark.parameters.networks import estimated_networks
from tanbark.parameters.pair_ratios import pair_ratios
from tanbark.parameters.super_parents import Smoothing, children_tables, joint_value_tables, value_tables
from tanbark.parameters.tree_tables import class_table, tree_tables

__all__ = [
    "PARAMETERS",
    "Smoothing",
    "children_tables",
    "class_table",
    "estimated_networks",
    "joint_value_tables",
    "pair_ratios",
    "raked_pair",
    "smoothed_values",
    "tree_tables",
    "value_tables",
]

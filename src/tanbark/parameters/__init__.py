"""Estimation of conditional probability tables from counts, for a given structure."""

from tanbark.parameters.family_tables import estimated_networks
from tanbark.parameters.super_parent_tables import Smoothing, children_tables, joint_value_tables, value_tables
from tanbark.parameters.tree_tables import (
    PARAMETERS,
    class_table,
    pair_ratios,
    raked_pair,
    smoothed_values,
    tree_tables,
)

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

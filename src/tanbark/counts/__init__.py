"""Counts: what all learning here learns from."""

from tanbark.counts.batches import count_batches
from tanbark.counts.counts import Counts
from tanbark.counts.family import FamilyCounts, count_family
from tanbark.counts.rows import Rows
from tanbark.counts.tally import Tally
from tanbark.counts.tree_counts import TreeCounts, count_tree

__all__ = ["Counts", "FamilyCounts", "Rows", "Tally", "TreeCounts", "count_batches", "count_family", "count_tree"]

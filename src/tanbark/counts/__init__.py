"""Counts of classes, values and pairs of values: the statistics that all models are learned from."""

from tanbark.counts.accumulator import Tally
from tanbark.counts.batch_counting import count_batches
from tanbark.counts.counts import Counts
from tanbark.counts.encoded_rows import Rows
from tanbark.counts.family_counts import FamilyCounts, TreeCounts, count_family, count_tree

__all__ = ["Counts", "FamilyCounts", "Rows", "Tally", "TreeCounts", "count_batches", "count_family", "count_tree"]

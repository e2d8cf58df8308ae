"""Counts: what all learning here learns from."""

from tanbark.counts.counts import Counts
from tanbark.counts.family import FamilyCounts, count_family
from tanbark.counts.rows import Rows

__all__ = ["Counts", "FamilyCounts", "Rows", "count_family"]

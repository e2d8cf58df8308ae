"""Counts: what all learning here learns from."""

from tanbark.counts.counts import Counts
from tanbark.counts.family import FamilyCounts, count_family

__all__ = ["Counts", "FamilyCounts", "count_family"]

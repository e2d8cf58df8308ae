"""What is equal but for rounding."""

from __future__ import annotations

SLACK = 1e-12


def slack(score: float, weight: float) -> float:
    """Return by how much sums of logarithms like this score, over cases of so much weight, may differ by rounding."""
    return SLACK * (abs(score) + weight)

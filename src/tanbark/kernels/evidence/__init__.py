"""Kernels of weighted evidence: back-off tables, the penalised likelihood of their weights, and lookups."""

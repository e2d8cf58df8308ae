"""Kernels that count, and estimate tables from counts."""

"""Numba kernels: compiled functions on plain arrays, independent of the estimators."""

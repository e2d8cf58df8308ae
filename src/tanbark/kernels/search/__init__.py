"""Kernels for structure search."""

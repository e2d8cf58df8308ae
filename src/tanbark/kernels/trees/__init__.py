"""Kernels for edge weights and spanning trees."""

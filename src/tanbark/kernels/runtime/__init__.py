"""Compilation, threads and low-level functions that all kernels use."""

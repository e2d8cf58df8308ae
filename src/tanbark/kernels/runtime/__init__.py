"""Compilation, threads and low-level functions shared by all kernels."""

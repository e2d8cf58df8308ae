"""Kernels that count rows and estimate tables."""

"""Kernels that convert numbers to codes."""

"""Kernels that turn numbers into codes."""

"""Kernels for averages over trees, super-parents and pools."""

"""Schemas, and encoding tables with them."""

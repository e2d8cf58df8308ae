"""Weighted evidence: back-off tables of attributes in their contexts, and weights of maximum conditional likelihood."""

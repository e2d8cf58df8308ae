"""Searching for structures by score."""

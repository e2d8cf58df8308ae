"""Searches for structures of high score."""

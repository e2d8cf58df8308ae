"""Shared parts of the classifiers."""

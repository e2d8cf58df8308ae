"""Classifiers: scikit-learn estimators that say which structure, which parameters, which average."""

from tanbark.classifiers.registry import REGISTRY, Entry

__all__ = ["REGISTRY", "Entry"]

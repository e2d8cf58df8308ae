"""Classifiers: scikit-learn estimators that say which structure, which parameters, which average."""

from tanbark.classifiers.averaged_tan import AveragedTAN
from tanbark.classifiers.kdb import KDB
from tanbark.classifiers.naive_bayes import NaiveBayes
from tanbark.classifiers.registry import REGISTRY, Entry
from tanbark.classifiers.tan import TAN

__all__ = ["KDB", "REGISTRY", "TAN", "AveragedTAN", "Entry", "NaiveBayes"]

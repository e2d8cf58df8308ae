"""Bayesian network classifiers that learn from counts.

Names are imported when they are first used, so that importing this package and showing command-line help are fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tanbark.classifiers.additive_bn import AdditiveBN
    from tanbark.classifiers.aode import AODE
    from tanbark.classifiers.augmented_naive_bayes import AugmentedNaiveBayes
    from tanbark.classifiers.averaged_tan import AveragedTAN
    from tanbark.classifiers.bayes_net import BayesNet
    from tanbark.classifiers.bnc2p import BNC2P
    from tanbark.classifiers.boosted_bn import BoostedBN
    from tanbark.classifiers.boosted_tables import BoostedTables
    from tanbark.classifiers.ensemble_bn import EnsembleBN
    from tanbark.classifiers.evidence_bn import EvidenceBN
    from tanbark.classifiers.forest_an import ForestAN
    from tanbark.classifiers.k2 import K2
    from tanbark.classifiers.kdb import KDB
    from tanbark.classifiers.markov_blanket_selector import MarkovBlanketSelector
    from tanbark.classifiers.naive_bayes import NaiveBayes
    from tanbark.classifiers.stream import Stream
    from tanbark.classifiers.super_parent import SuperParent
    from tanbark.classifiers.tan import TAN
    from tanbark.counts import Counts
    from tanbark.files import load, save
    from tanbark.network import Network
    from tanbark.report import write_report
    from tanbark.schema import Category, Encoder, InputColumn, Number, Recipe, Schema

__version__ = "0.1.0"

_HOME = {
    "AODE": "tanbark.classifiers.aode",
    "BNC2P": "tanbark.classifiers.bnc2p",
    "K2": "tanbark.classifiers.k2",
    "KDB": "tanbark.classifiers.kdb",
    "TAN": "tanbark.classifiers.tan",
    "AdditiveBN": "tanbark.classifiers.additive_bn",
    "AugmentedNaiveBayes": "tanbark.classifiers.augmented_naive_bayes",
    "AveragedTAN": "tanbark.classifiers.averaged_tan",
    "BayesNet": "tanbark.classifiers.bayes_net",
    "BoostedBN": "tanbark.classifiers.boosted_bn",
    "BoostedTables": "tanbark.classifiers.boosted_tables",
    "Category": "tanbark.schema",
    "Counts": "tanbark.counts",
    "Encoder": "tanbark.schema",
    "EnsembleBN": "tanbark.classifiers.ensemble_bn",
    "EvidenceBN": "tanbark.classifiers.evidence_bn",
    "ForestAN": "tanbark.classifiers.forest_an",
    "InputColumn": "tanbark.schema",
    "MarkovBlanketSelector": "tanbark.classifiers.markov_blanket_selector",
    "NaiveBayes": "tanbark.classifiers.naive_bayes",
    "Network": "tanbark.network",
    "Number": "tanbark.schema",
    "Recipe": "tanbark.schema",
    "Schema": "tanbark.schema",
    "Stream": "tanbark.classifiers.stream",
    "SuperParent": "tanbark.classifiers.super_parent",
    "load": "tanbark.files",
    "save": "tanbark.files",
    "write_report": "tanbark.report",
}

__all__ = [
    "AODE",
    "BNC2P",
    "K2",
    "KDB",
    "TAN",
    "AdditiveBN",
    "AugmentedNaiveBayes",
    "AveragedTAN",
    "BayesNet",
    "BoostedBN",
    "BoostedTables",
    "Category",
    "Counts",
    "Encoder",
    "EnsembleBN",
    "EvidenceBN",
    "ForestAN",
    "InputColumn",
    "MarkovBlanketSelector",
    "NaiveBayes",
    "Network",
    "Number",
    "Recipe",
    "Schema",
    "Stream",
    "SuperParent",
    "load",
    "save",
    "write_report",
]


_MODULES = ("datasets", "evaluate", "export")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"tanbark.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'tanbark' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_MODULES, "__version__"]

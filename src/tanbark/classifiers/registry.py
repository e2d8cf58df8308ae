"""The registry of all classifiers, for the command line, the documentation and the tests.

A classifier is imported when it is first used, so that shell completion of their names is fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tanbark.classifiers.base.counts_classifier import CountsClassifier


@dataclass(frozen=True)
class Entry:
    """A classifier: its name on the command line, its class in `tanbark`, its publication, and a short description.

    Its file in `tanbark.classifiers` has the same name, with underscores instead of hyphens.
    """

    name: str
    class_name: str
    paper: str
    summary: str

    @cached_property
    def classifier(self) -> type[CountsClassifier]:
        """The class of the classifier, imported on first use."""
        module = import_module(f"tanbark.classifiers.{self.name.replace('-', '_')}")
        found: type[CountsClassifier] = getattr(module, self.class_name)
        return found


REGISTRY: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "evidence-bn",
            "EvidenceBN",
            "Li, Zhang, Wang and Zhang 2007",
            "the sum of the weighted evidence of each attribute in its context",
        ),
        Entry(
            "boosted-tables",
            "BoostedTables",
            "Friedman, Hastie and Tibshirani 2000",
            "tables of class scores over a few shared questions, boosted",
        ),
        Entry(
            "ensemble-bn",
            "EnsembleBN",
            "Chen and Guestrin 2016",
            "boosted tables and networks around weighted evidence, pooled",
        ),
        Entry(
            "naive-bayes",
            "NaiveBayes",
            "Langley, Iba and Thompson 1992",
            "every attribute depends only on the class",
        ),
        Entry(
            "tan",
            "TAN",
            "Friedman, Geiger and Goldszmidt 1997",
            "attributes depend on the class, and on each other along a tree",
        ),
        Entry(
            "forest-an",
            "ForestAN",
            "Lucas 2004",
            "a tree without the edges that do not improve the score",
        ),
        Entry(
            "super-parent",
            "SuperParent",
            "Li, Zhang, Wang and Zhang 2007",
            "every attribute depends on the class and on one common attribute",
        ),
        Entry(
            "aode",
            "AODE",
            "Webb, Boughton and Wang 2005",
            "the average over all super-parent networks",
        ),
        Entry(
            "additive-bn",
            "AdditiveBN",
            "Li, Zhang, Wang and Zhang 2007",
            "super-parent networks pooled with the weights of maximum conditional likelihood",
        ),
        Entry(
            "averaged-tan",
            "AveragedTAN",
            "Cerquides and Lopez de Mantaras 2003",
            "the average over all trees, weighted by their posterior probabilities",
        ),
        Entry(
            "kdb",
            "KDB",
            "Sahami 1996",
            "each attribute depends on the class and on up to k other attributes",
        ),
        Entry(
            "bayes-net",
            "BayesNet",
            "Silander and Myllymaki 2006",
            "the best-scoring network of any structure",
        ),
        Entry(
            "augmented-naive-bayes",
            "AugmentedNaiveBayes",
            "Sugahara, Uto and Ueno 2018",
            "the best-scoring network in which every attribute depends on the class",
        ),
        Entry(
            "k2",
            "K2",
            "Cooper and Herskovits 1992",
            "each attribute depends on earlier attributes, selected greedily",
        ),
        Entry(
            "bnc2p",
            "BNC2P",
            "Grossman and Domingos 2004",
            "the network with at most two parents per node and maximum conditional likelihood",
        ),
        Entry(
            "boosted-bn",
            "BoostedBN",
            "Jing, Pavlovic and Rehg 2005",
            "weighted votes of networks, each trained on the errors of the previous ones",
        ),
    )
}


def registered_name(classifier: type) -> str | None:
    """Return the name of a classifier on the command line, or None if it is not registered."""
    entry = next((entry for entry in REGISTRY.values() if entry.class_name == classifier.__name__), None)
    return entry.name if entry is not None and entry.classifier is classifier else None

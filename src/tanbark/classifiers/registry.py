"""All classifiers there are, for the command line, the documentation and the tests.

None is imported before it is used: a shell that completes their names is in a hurry.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tanbark.classifiers.base.counts_classifier import CountsClassifier


@dataclass(frozen=True)
class Entry:
    """A classifier, what to call it on the command line, where it was published, and what it is in a sentence."""

    name: str
    class_name: str
    paper: str
    summary: str

    @property
    def classifier(self) -> type[CountsClassifier]:
        """The class."""
        found: type[CountsClassifier] = getattr(import_module("tanbark"), self.class_name)
        return found


REGISTRY: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "naive-bayes",
            "NaiveBayes",
            "Langley, Iba and Thompson 1992",
            "every attribute depends on the class alone",
        ),
        Entry(
            "tan",
            "TAN",
            "Friedman, Geiger and Goldszmidt 1997",
            "attributes depend on the class and on one another along a tree",
        ),
        Entry(
            "forest-an",
            "ForestAN",
            "Lucas 2004",
            "a tree without the edges that do not pay",
        ),
        Entry(
            "super-parent",
            "SuperParent",
            "Li, Zhang, Wang and Zhang 2007",
            "one attribute is above all others, beside the class",
        ),
        Entry(
            "aode",
            "AODE",
            "Webb, Boughton and Wang 2005",
            "the mean over all super-parents",
        ),
        Entry(
            "additive-bn",
            "AdditiveBN",
            "Li, Zhang, Wang and Zhang 2007",
            "super-parents pooled with the weights that make the classes most probable",
        ),
        Entry(
            "averaged-tan",
            "AveragedTAN",
            "Cerquides and Lopez de Mantaras 2003",
            "the average over all trees, each weighed by its posterior probability",
        ),
        Entry(
            "kdb",
            "KDB",
            "Sahami 1996",
            "attributes depend on the class and on up to k others each",
        ),
        Entry(
            "bayes-net",
            "BayesNet",
            "Silander and Myllymaki 2006",
            "the best network of any shape",
        ),
        Entry(
            "augmented-naive-bayes",
            "AugmentedNaiveBayes",
            "Sugahara, Uto and Ueno 2018",
            "the best network in which every attribute depends on the class",
        ),
        Entry(
            "k2",
            "K2",
            "Cooper and Herskovits 1992",
            "each attribute depends on those before it that pay, found greedily",
        ),
        Entry(
            "bnc2p",
            "BNC2P",
            "Grossman and Domingos 2004",
            "the network, of at most two parents each, that makes the classes most probable",
        ),
        Entry(
            "boosted-bn",
            "BoostedBN",
            "Jing, Pavlovic and Rehg 2005",
            "networks that vote, each learned from what those before got wrong",
        ),
    )
}

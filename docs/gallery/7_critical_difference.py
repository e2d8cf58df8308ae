"""Critical difference diagram.

Mean ranks by log loss over six data sets. Bars join classifiers that do not differ significantly in Nemenyi's test.
"""

from pathlib import Path

import numpy as np

from tanbark import AODE, TAN, AveragedTAN, ForestAN, NaiveBayes
from tanbark.datasets import load
from tanbark.evaluate import compare, plots, significance

models = {
    "naive Bayes": NaiveBayes(),
    "TAN": TAN(),
    "forest": ForestAN(),
    "averaged TAN": AveragedTAN(),
    "AODE": AODE(),
}
losses = []
for name in ("iris", "wine", "balance_scale", "tic_tac_toe", "monks_1", "three_of_9"):
    found = compare(models, *load(name), folds=5)
    losses.append([found[model].mean("log_loss") for model in models])
test = significance.friedman(np.array(losses))
difference = significance.critical_difference(len(models), len(losses))
drawing = plots.critical_difference_diagram(list(models), test.ranks, difference)
Path("critical_difference.svg").write_text(drawing)

"""How sure each edge is.

The posterior probability of every edge over all trees (`AveragedTAN`), from every third of 178 wines.
"""

from tanbark import AveragedTAN
from tanbark.datasets import wine

wines = wine()
third = list(range(0, 178, 3))
model = AveragedTAN().fit(wines.table.take(third), wines.labels.take(third))
model.plot_edge_probabilities().figure.savefig("edge_probabilities.svg")

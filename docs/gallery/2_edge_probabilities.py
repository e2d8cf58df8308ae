"""Edge probabilities.

The posterior probability of each edge over all trees (`AveragedTAN`), learned from every third of 178 wines.
"""

from tanbark import AveragedTAN
from tanbark.datasets import wine

wines = wine()
third = list(range(0, 178, 3))
model = AveragedTAN().fit(wines.table.take(third), wines.labels.take(third))
model.plot_edge_probabilities().figure.savefig("edge_probabilities.svg")

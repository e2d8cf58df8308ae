"""How sure each edge is.

The posterior probability of every edge over all trees (`AveragedTAN`), from 60 wines and from all 178.
"""

from matplotlib import pyplot as plt
from sklearn.model_selection import train_test_split

from tanbark import AveragedTAN
from tanbark.datasets import wine

table = wine()
X, y = table
few, _, few_y, _ = train_test_split(X, y, train_size=60, stratify=y, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(8, 4.2), sharey=True, layout="constrained")
for panel, (rows, classes) in zip(axes, ((few, few_y), (X, y))):
    probabilities = AveragedTAN().fit(rows, classes).edge_probabilities_
    shown = panel.pcolormesh(probabilities, cmap="YlOrBr", vmin=0, vmax=1, edgecolors="#88888840", linewidth=0.5)
    panel.set_title(f"{len(rows)} wines")
    panel.set_aspect("equal")
    panel.set_xticks([u + 0.5 for u in range(13)], table.feature_names, rotation=90)
axes[0].invert_yaxis()
axes[0].set_yticks([u + 0.5 for u in range(13)], table.feature_names)
figure.colorbar(shown, ax=axes, shrink=0.6, label="probability of the edge")
figure.savefig("edge_probabilities.svg", transparent=True, bbox_inches="tight")

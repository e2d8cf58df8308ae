"""What depends on what in a needle biopsy.

The forest that `ForestAN` learns from ten measurements of cell nuclei; thick edges are those that gain most.
"""

import networkx as nx
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

from tanbark import ForestAN

cells = load_breast_cancer()
model = ForestAN().fit(cells.data[:, :10], cells.target)
names = [name.removeprefix("mean ") for name in cells.feature_names[:10]]

graph = nx.Graph()
graph.add_nodes_from(range(10))
graph.add_weighted_edges_from(model.tree_edges_)
places = nx.kamada_kawai_layout(graph, weight=None)
widths = [gain / 60 for _, _, gain in graph.edges.data("weight")]

figure, axes = plt.subplots(figsize=(6, 4))
nx.draw_networkx_edges(graph, places, width=widths, edge_color="#0072B2", alpha=0.6, ax=axes)
nx.draw_networkx_nodes(graph, places, node_size=30, node_color="#D55E00", ax=axes)
for u, (x, y) in places.items():
    axes.annotate(names[u], (x, y), xytext=(0, 6), textcoords="offset points", ha="center")
axes.margins(0.15)
axes.set_axis_off()
figure.savefig("tree.svg", transparent=True, bbox_inches="tight")

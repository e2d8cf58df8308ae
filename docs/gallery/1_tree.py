"""Dependencies between measurements of a needle biopsy.

The forest that `ForestAN` learns from ten measurements of cell nuclei. Thicker edges have higher mutual information.
The class is a parent of all measurements; its edges are omitted.
"""

import pyarrow as pa
from sklearn.datasets import load_breast_cancer

from tanbark import ForestAN

cells = load_breast_cancer()
names = [name.removeprefix("mean ") for name in cells.feature_names[:10]]
model = ForestAN().fit(pa.table(dict(zip(names, cells.data.T[:10], strict=True))), cells.target)
model.network_.plot().figure.savefig("tree.svg")

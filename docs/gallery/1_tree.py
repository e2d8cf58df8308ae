"""What depends on what in a needle biopsy.

The forest that `ForestAN` learns from ten measurements of cell nuclei: the thicker an edge, the more one tells about
the other. The class is above all of them; its edges are left out.
"""

import pyarrow as pa
from sklearn.datasets import load_breast_cancer

from tanbark import ForestAN

cells = load_breast_cancer()
names = [name.removeprefix("mean ") for name in cells.feature_names[:10]]
model = ForestAN().fit(pa.table(dict(zip(names, cells.data.T))), cells.target)
model.network_.plot().figure.savefig("tree.svg")

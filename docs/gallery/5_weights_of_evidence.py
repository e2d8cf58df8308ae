"""Weights of evidence.

The contribution of each measurement to the log odds of a malignant tumour, for one patient, from left to right. The sum
is the prediction.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

from tanbark import ForestAN

cells = load_breast_cancer()
X = cells.data[:, :10]
model = ForestAN().fit(X, cells.target)
patient = int(np.abs(model.predict_proba(X)[:, 0] - 0.7).argmin())
weights = model.explain(X[[patient]])[0]
odds = weights[:, 0] - weights[:, 1]  # class 0 is malignant
names = ["prior", *(name.removeprefix("mean ") for name in cells.feature_names[:10])]
order = [0, *(1 + np.argsort(-np.abs(odds[1:])))]
steps = odds[order]
starts = np.cumsum(steps) - steps

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.barh(range(11), steps, left=starts, color=np.where(steps > 0, "#D55E00", "#0072B2"))
axes.plot([odds.sum()] * 2, [-0.6, 10.6], color=plt.rcParams["text.color"], linewidth=0.7)
axes.set_yticks(range(11), [names[u] for u in order])
axes.invert_yaxis()
axes.set_xlabel(
    f"log odds of malignant; the sum is {odds.sum():.2f}, a probability of {1 / (1 + np.exp(-odds.sum())):.0%}"
)
figure.savefig("weights_of_evidence.svg")

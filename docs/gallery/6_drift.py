"""A stream that changes.

A display of seven segments shows digits. After 5,000 rows two of its segments are exchanged. Before each chunk is
learned it is predicted: the model that remembers all recovers slowly, the one with a window of 1,000 rows at once.
"""

import numpy as np
from matplotlib import pyplot as plt

from tanbark import TAN, Stream
from tanbark.datasets import led7

X, y = led7(10_000)
X[5_000:, [0, 4]] = X[5_000:, [4, 0]]

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, window, look in (("remembers all", None, "-"), ("the last 1,000 rows", 1_000, "--")):
    stream, rows, losses = Stream(TAN(), window=window), [], []
    for start in range(0, len(X), 250):
        stream = stream.partial_fit(X[start : start + 250], y[start : start + 250])
        rows.append(start + 250)
        losses.append(stream.log_loss_)
    axes.plot(rows[1:], losses[1:], look, label=name)
axes.set(xlabel="rows", ylabel="log loss, nats", ylim=(0, np.nanmax(losses[1:]) * 1.1))
axes.legend()
figure.savefig("drift.svg")

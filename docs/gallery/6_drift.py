"""A stream with drift.

A display of seven segments shows digits. After 5,000 rows two of its segments are swapped. Each chunk is predicted
before it is learned. The model that remembers all rows recovers slowly, the one with a window of 1,000 rows quickly.
"""

import numpy as np
from matplotlib import pyplot as plt

from tanbark import TAN, Stream
from tanbark.datasets import led7

X, y = led7(10_000)
X[5_000:, [0, 4]] = X[5_000:, [4, 0]]

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, window, style in (("all rows", None, "-"), ("the last 1,000 rows", 1_000, "--")):
    stream, rows, losses = Stream(TAN(), window=window), [], []
    for start in range(0, len(X), 250):
        stream = stream.partial_fit(X[start : start + 250], y[start : start + 250])
        rows.append(start + 250)
        losses.append(stream.log_loss_)
    axes.plot(rows[1:], losses[1:], style, label=name)
axes.set(xlabel="rows", ylabel="log loss, nats", ylim=(0, np.nanmax(losses[1:]) * 1.1))
axes.legend()
figure.savefig("drift.svg")

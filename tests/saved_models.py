"""A table with something of everything, to save models of."""

import numpy as np
import pandas as pd


def table(rows=80, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "größe, cm": rng.normal(size=rows),
            'a "quoted" name': np.array(["ja", "nein", "日本"], object)[rng.integers(0, 3, rows)],
            "count": rng.integers(0, 4, rows),
            "flag": rng.random(rows) < 0.5,
        }
    )
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    return frame, rng.integers(0, 3, rows)

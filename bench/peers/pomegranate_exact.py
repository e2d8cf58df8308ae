"""Time pomegranate's exact search: python pomegranate_exact.py --data FILE.npz --repeat N. No limit on parents."""

import json
import warnings
from importlib.metadata import version

from common import arguments, best, importing, load


def main():
    options = arguments()
    warnings.simplefilter("ignore")
    with importing("pomegranate"):
        import numpy as np
        from pomegranate.bayesian_network import BayesianNetwork
    X, y, _ = load(options.data)
    table = np.column_stack([X, y])

    def fit():
        return BayesianNetwork(algorithm="exact", max_parents=table.shape[1]).fit(table)

    taken, _ = best(fit, options.repeat)
    print(json.dumps({"peer": "pomegranate", "version": version("pomegranate"), "fit_seconds": taken}))


if __name__ == "__main__":
    main()

"""Time pgmpy's TAN: python pgmpy_tan.py --data FILE.npz --repeat N [--predict-rows 1000] [--n-jobs -1]."""

import logging
import warnings
from importlib.metadata import version

from common import arguments, best, importing, load, report


def main():
    options = arguments(
        predict_rows=(1000, "the number of rows of X_test to predict; pgmpy works row by row"),
        n_jobs=(
            -1,
            "processes for the tree weights, -1 (pgmpy's default) for all cores; the peak memory excludes them",
        ),
    )
    warnings.simplefilter("ignore")
    with importing("pgmpy"):
        import pandas as pd
        from pgmpy.estimators import TreeSearch
        from pgmpy.models import DiscreteBayesianNetwork
        from pgmpy.parameter_estimator import DiscreteBayesianEstimator
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    X, y, X_test = load(options.data)
    names = [f"x{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names).assign(y=y)
    test = pd.DataFrame(X_test[: options.predict_rows], columns=names)

    def fit():
        search = TreeSearch(frame, root_node=names[0], n_jobs=options.n_jobs)
        tree = search.estimate(estimator_type="tan", class_node="y", show_progress=False)
        network = DiscreteBayesianNetwork(tree.edges())
        network.fit(frame, estimator=DiscreteBayesianEstimator(prior_type="K2"))
        return network

    fit_seconds, network = best(fit, options.repeat)
    predict_seconds, _ = best(lambda: network.predict_probability(test), options.repeat)
    report("pgmpy TAN", version("pgmpy"), fit_seconds, predict_seconds, len(test))


if __name__ == "__main__":
    main()

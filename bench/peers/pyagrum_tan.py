"""Time pyAgrum's TAN: python pyagrum_tan.py --data FILE.npz --repeat N."""

from common import arguments, best, importing, load, report


def main():
    options = arguments()
    with importing("pyAgrum (with scikit-learn and pandas)"):
        import pyagrum
        from pyagrum.skbn import createBNClassifier
    X, y, X_test = load(options.data)

    def fit():
        # Integers with more distinct values than the threshold would be discretised.
        model = createBNClassifier(
            learningMethod="TAN", prior="Smoothing", priorWeight=1, discretizationThreshold=int(X.max()) + 2
        )
        return model.fit(X, y)

    fit_seconds, model = best(fit, options.repeat)
    predict_seconds, _ = best(lambda: model.predict_proba(X_test), options.repeat)
    report("pyAgrum TAN", pyagrum.__version__, fit_seconds, predict_seconds, len(X_test))


if __name__ == "__main__":
    main()

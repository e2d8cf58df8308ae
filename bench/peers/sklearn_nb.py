"""Time scikit-learn's CategoricalNB, the naive Bayes baseline: python sklearn_nb.py --data FILE.npz --repeat N."""

import numpy as np
from common import arguments, best, importing, load, report


def main():
    options = arguments()
    with importing("scikit-learn"):
        import sklearn
        from sklearn.naive_bayes import CategoricalNB
    X, y, X_test = load(options.data)
    levels = np.maximum(X.max(0), X_test.max(0)) + 1
    fit_seconds, model = best(lambda: CategoricalNB(min_categories=levels).fit(X, y), options.repeat)
    predict_seconds, _ = best(lambda: model.predict_proba(X_test), options.repeat)
    report("scikit-learn CategoricalNB", sklearn.__version__, fit_seconds, predict_seconds, len(X_test))


if __name__ == "__main__":
    main()

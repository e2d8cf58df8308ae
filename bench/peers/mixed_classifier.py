"""Time a classifier on a table of categories and numbers: python mixed_classifier.py --data FILE.npz --classifier NAME.

The first half of the columns are categories. NAME is LightGBM, EBM, or a classifier of tanbark. All use two threads.
"""

import warnings
from importlib.metadata import version

from common import arguments, best, importing, load, report

ROW_REPEAT = 50


def lightgbm():
    with importing("lightgbm"):
        from lightgbm import LGBMClassifier
    return LGBMClassifier(n_estimators=100, n_jobs=2, verbose=-1, random_state=0), version("lightgbm")


def ebm():
    with importing("interpret"):
        from interpret.glassbox import ExplainableBoostingClassifier
    return ExplainableBoostingClassifier(n_jobs=2, random_state=0), version("interpret")


def main():
    options = arguments(classifier=("LightGBM", "LightGBM, EBM or a classifier of tanbark"))
    warnings.simplefilter("ignore")
    import pandas as pd

    X, y, X_test = load(options.data)

    def frame(values):
        table = pd.DataFrame(values, columns=[f"x{u}" for u in range(values.shape[1])])
        for name in table.columns[: values.shape[1] // 2]:
            table[name] = table[name].astype(int).astype("category")
        return table

    table, rows = frame(X), frame(X_test)
    if options.classifier in ("LightGBM", "EBM"):
        model, used = lightgbm() if options.classifier == "LightGBM" else ebm()
    else:
        import tanbark

        model, used = getattr(tanbark, options.classifier)(n_jobs=2), tanbark.__version__
        model.fit(table[:500], y[:500]).predict_proba(rows[:500])  # compile the kernels
    fit_seconds, _ = best(lambda: model.fit(table, y), options.repeat)
    predict_seconds, _ = best(lambda: model.predict_proba(rows), options.repeat)
    row = rows[:1]
    row_seconds, _ = best(lambda: model.predict_proba(row), ROW_REPEAT)
    report(options.classifier, used, fit_seconds, predict_seconds, len(rows), row_seconds=row_seconds)


if __name__ == "__main__":
    main()

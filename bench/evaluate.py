"""Compare cross-validation from counts with a single fit, with a fit in each fold, and with scikit-learn.

python -m bench.evaluate [--quick] writes bench/results/evaluate.md.
"""

import argparse
from pathlib import Path

from sklearn.model_selection import StratifiedKFold
from sklearn.model_selection import cross_validate as sklearn_cross_validate
from sklearn.naive_bayes import CategoricalNB

from bench.tables import best, machine, random_tan, seconds
from tanbark import TAN, AveragedTAN, NaiveBayes
from tanbark.evaluate import compare, cross_validate

HERE = Path(__file__).parent
HOW = "All figures are from the same run, one program at a time, two threads, the best of several repetitions."
SCORES = ("accuracy", "neg_log_loss")


def refitted(model, X, y):
    """Cross-validate with scikit-learn, with a new fit for each fold, and score the folds."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    return sklearn_cross_validate(model, X, y, cv=folds, scoring=SCORES)


def counted(model, X, y):
    """Cross-validate from counts and score the folds."""
    found = cross_validate(model, X, y, n_jobs=2)
    assert found.shared == 10
    return found.mean("error"), found.mean("log_loss")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    rows = 100_000 if parser.parse_args().quick else 1_000_000
    X, y = random_tan(rows, 30)
    model = TAN(n_jobs=2)
    model.fit(X, y).predict_proba(X)
    counted(model, X, y)
    fit = best(lambda: model.fit(X, y), 5)
    predict = best(lambda: model.predict_proba(X), 5)
    ten = best(lambda: counted(model, X, y), 5)
    again = best(lambda: refitted(model, X, y), 2)
    naive = best(lambda: refitted(CategoricalNB(), X, y), 1)
    ours = best(lambda: counted(NaiveBayes(n_jobs=2), X, y), 3)
    few = slice(0, min(rows, 100_000))
    models = {"naive Bayes": NaiveBayes(), "TAN": TAN(), "AveragedTAN": AveragedTAN()}
    three = best(lambda: compare(models, X[few], y[few], n_jobs=2), 2)
    difference = abs(counted(model, X, y)[0] - (1.0 - refitted(model, X, y)["test_accuracy"].mean()))
    lines = [
        "# Cross-validation from counts",
        "",
        *machine(HOW),
        f"| {rows:,} rows x 30 attributes x 4 levels x 3 classes | time | / fit and prediction |",
        "| --- | --- | --- |",
        f"| TAN, one fit | {seconds(fit)} | |",
        f"| TAN, prediction of all rows | {seconds(predict)} | |",
        f"| TAN, ten folds from counts, error and log loss included | {seconds(ten)} | {ten / (fit + predict):.2f} |",
        f"| TAN, ten folds by scikit-learn's `cross_validate`, the same scores | {seconds(again)} | "
        f"{again / (fit + predict):.1f} |",
        f"| naive Bayes, ten folds from counts | {seconds(ours)} | |",
        f"| scikit-learn's CategoricalNB, ten folds by its `cross_validate` | {seconds(naive)} | |",
        "",
        "Target: less than 2 in the third row. The mean errors of the third and fourth rows, which use different "
        f"folds, differ by {difference:.1e}.",
        "",
        f"`compare` of naive Bayes, TAN and AveragedTAN in ten folds of {few.stop:,} rows: {seconds(three)}.",
        "",
    ]
    (HERE / "results" / "evaluate.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()

"""Cross-validate classifiers on a folder of tables and keep what each predicts, one file per table and classifier.

python bench/quality_folds.py OUT DIR... --models logreg,lgbm,tb:EvidenceBN [--max-rows 5000] [--tables a,b]

Stratified 5-fold cross-validation, shuffled with seed 0, with the same folds for every classifier. Finished pairs of
table and classifier are not run again. This file needs no tanbark unless a classifier of tanbark (``tb:NAME`` or
``tb:NAME:PARAMETER=VALUE``) is asked for, so that it also runs in the environment of the peers.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler

FOLDS = 5
MIN_ROWS_OF_A_CLASS = 5
CLIP = 1e-6
BINS = 10
"""Bins of confidence of the expected calibration error."""


def load(path, max_rows, missing="nan"):
    """Return a table and its classes; rare classes are left out, text and columns of two values are categories.

    A missing category is replaced by the level `missing`; None leaves it missing.
    """
    table = pd.read_csv(path)
    if len(table) > max_rows:
        table = table.sample(max_rows, random_state=0).reset_index(drop=True)
    y = table.pop("class").astype(str)
    kept = y.map(y.value_counts()) >= MIN_ROWS_OF_A_CLASS
    X, y = table[kept].reset_index(drop=True).dropna(axis=1, how="all"), y[kept].reset_index(drop=True)
    for name in X:
        if not pd.api.types.is_numeric_dtype(X[name]) or X[name].nunique() <= 2:
            X[name] = X[name].astype("object").astype(str).where(X[name].notna(), missing).astype("category")
    return X, y


class SafeNB(CategoricalNB):
    """scikit-learn's naive Bayes, with codes that were not seen in training treated as the last one."""

    def fit(self, X, y):
        self.min_categories = (np.asarray(X).max(axis=0) + 1).astype(int)
        return super().fit(X, y)

    def predict_proba(self, X):
        return super().predict_proba(np.minimum(X, np.asarray(self.min_categories) - 1))


def peers():
    """Return functions that create the peers that need no further package."""
    number, other = make_column_selector(dtype_include="number"), make_column_selector(dtype_exclude="number")

    def one_hot():
        return OneHotEncoder(handle_unknown="ignore")

    def naive_bayes():
        bins = make_pipeline(
            SimpleImputer(strategy="median"), KBinsDiscretizer(5, encode="ordinal", strategy="quantile")
        )
        levels = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
        shifted = make_pipeline(levels, FunctionTransformer(lambda codes: codes + 1))
        return make_pipeline(make_column_transformer((bins, number), (shifted, other)), SafeNB())

    def logistic_regression():
        scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
        columns = make_column_transformer((scaled, number), (one_hot(), other))
        return make_pipeline(columns, LogisticRegression(max_iter=500))

    def random_forest():
        columns = make_column_transformer((SimpleImputer(strategy="median"), number), (one_hot(), other))
        return make_pipeline(columns, RandomForestClassifier(200, n_jobs=2, random_state=0))

    return {
        "nb": naive_bayes,
        "logreg": logistic_regression,
        "rf": random_forest,
        "histgb": lambda: HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0),
        "lgbm": _lightgbm,
        "catboost": _catboost,
        "ebm": _ebm,
        "khiops": _khiops,
    }


def _lightgbm():
    import lightgbm

    return lightgbm.LGBMClassifier(n_estimators=100, n_jobs=2, verbose=-1, random_state=0)


def _ebm():
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=2, random_state=0)


def _khiops():
    from khiops.sklearn import KhiopsClassifier

    return KhiopsClassifier(n_trees=10)


def _catboost():
    from catboost import CatBoostClassifier

    class WithCategories(CatBoostClassifier):
        def fit(self, X, y):
            names = [name for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)]
            return super().fit(X, y, cat_features=names)

    return WithCategories(verbose=0, thread_count=2, allow_writing_files=False, random_seed=0)


def tanbark_classifier(name):
    """Return a function that creates the classifier that ``tb:NAME:PARAMETER=VALUE`` names."""
    import tanbark

    class_name, *settings = name.removeprefix("tb:").split(":")

    def value(text):
        try:
            return json.loads(text)
        except ValueError:
            return text

    parameters = {key: value(text) for key, text in (setting.split("=") for setting in settings)}
    return lambda: getattr(tanbark, class_name)(n_jobs=2, **parameters)


def cross_validated(make, X, y):
    """Return the class probabilities of each row, predicted by a model that has not seen it, and seconds."""
    labels = np.unique(y)
    probabilities = np.zeros((len(y), len(labels)))
    fit_seconds = predict_seconds = 0.0
    fold = np.zeros(len(y), np.int8)
    for k, (train, test) in enumerate(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)):
        model = make()
        began = time.perf_counter()
        model.fit(X.iloc[train], y.iloc[train])
        fitted = time.perf_counter()
        predicted = model.predict_proba(X.iloc[test])
        predict_seconds += time.perf_counter() - fitted
        fit_seconds += fitted - began
        classes = np.asarray(model.classes_ if hasattr(model, "classes_") else model[-1].classes_).astype(str)
        probabilities[np.ix_(test, np.searchsorted(labels, classes))] = predicted
        fold[test] = k
    return probabilities, fold, fit_seconds, predict_seconds


def figures(probabilities, truth):
    """Return the error, the log loss (clipped at 1e-6) and the expected calibration error of predictions."""
    clipped = np.clip(probabilities, CLIP, 1)
    losses = -np.log(clipped[np.arange(len(truth)), truth])
    correct, confidence = probabilities.argmax(axis=1) == truth, probabilities.max(axis=1)
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(place, correct - confidence, BINS)
    return 1 - correct.mean(), losses, np.abs(gaps).sum() / len(truth)


def run(out, path, name, make, max_rows, missing="nan"):
    """Cross-validate a classifier on a table, unless its result is there, and write the result."""
    table = path.name.split(".")[0]
    file = out / table / f"{name.replace(':', '-')}.npz"
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    X, y = load(path, max_rows, missing)
    labels, truth = np.unique(y, return_inverse=True)
    failure = ""
    try:
        probabilities, fold, fit_seconds, predict_seconds = cross_validated(make, X, y)
        error, losses, calibration = figures(probabilities, truth)
    except Exception as reason:
        failure = f"{type(reason).__name__}: {reason}"[:300]
        error, losses, calibration = np.nan, np.full(len(y), np.nan), np.nan
        fold, fit_seconds, predict_seconds = np.zeros(len(y), np.int8), 0.0, 0.0
    shape = [len(y), X.shape[1], len(labels)]
    seconds = [fit_seconds, predict_seconds]
    np.savez(
        file, losses=losses, fold=fold, error=error, calibration=calibration, shape=shape, seconds=seconds, why=failure
    )
    shown = failure or f"error {error:.4f}, log loss {losses.mean():.4f}, ECE {calibration:.4f}, {fit_seconds:.2f} s"
    print(f"{table} {name}: {shown}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--models", required=True)
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--tables", default="", help="only these tables, separated by commas")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    wanted = {name for name in given.tables.split(",") if name}
    paths = [path for folder in given.folders for path in folder.glob("*.csv*") if "MANIFEST" not in path.name]
    paths = [path for path in sorted(paths, key=lambda p: p.name) if not wanted or path.name.split(".")[0] in wanted]
    known = peers()
    began = time.monotonic()
    for done, path in enumerate(paths):
        for name in given.models.split(","):
            run(given.out, path, name, known.get(name) or tanbark_classifier(name), given.max_rows)
        spent = time.monotonic() - began
        left = spent / (done + 1) * (len(paths) - done - 1)
        print(
            f"[{done + 1} of {len(paths)} tables, {spent:.0f} s, about {left:.0f} s left]", file=sys.stderr, flush=True
        )


if __name__ == "__main__":
    main()

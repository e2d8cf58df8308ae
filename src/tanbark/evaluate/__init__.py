"""Evaluation: cross-validation, comparison and recommendation of classifiers, and tests of significance.

`evaluate_model` evaluates a fitted classifier on labelled rows. `least_cost_classes` predicts the classes of least
expected cost. `leaking_columns` finds columns that alone predict the class.

The tests are in `tanbark.evaluate.significance`, the metrics in `tanbark.evaluate.metrics`, the plots in
`tanbark.evaluate.plots`.
"""

from tanbark.evaluate.baseline import Baseline, BaselineComparison, Gain
from tanbark.evaluate.candidates import candidate_models, candidate_names
from tanbark.evaluate.comparison import Comparison, LearningCurve, compare, learning_curve
from tanbark.evaluate.comparison_page import comparison_html
from tanbark.evaluate.cross_validation import cross_validate
from tanbark.evaluate.decisions import least_cost_classes
from tanbark.evaluate.leakage import LeakingColumn, leaking_columns
from tanbark.evaluate.metrics import METRICS
from tanbark.evaluate.model_evaluation import Evaluation, EvaluationAccumulator, evaluate_model
from tanbark.evaluate.recommendation import Recommendation, recommend
from tanbark.evaluate.results import CrossValidation
from tanbark.evaluate.selection import Selection, select_model
from tanbark.evaluate.table_vectorizer import TableVectorizer

__all__ = [
    "METRICS",
    "Baseline",
    "BaselineComparison",
    "Comparison",
    "CrossValidation",
    "Evaluation",
    "EvaluationAccumulator",
    "Gain",
    "LeakingColumn",
    "LearningCurve",
    "Recommendation",
    "Selection",
    "TableVectorizer",
    "candidate_models",
    "candidate_names",
    "compare",
    "comparison_html",
    "cross_validate",
    "evaluate_model",
    "leaking_columns",
    "learning_curve",
    "least_cost_classes",
    "recommend",
    "select_model",
]

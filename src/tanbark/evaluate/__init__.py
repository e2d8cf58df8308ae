"""Which classifier to take: cross-validation, comparison, and tests of significance.

The tests are in `tanbark.evaluate.significance`, the metrics in `tanbark.evaluate.metrics`, the plots in
`tanbark.evaluate.plots`.
"""

from tanbark.evaluate.comparison import Comparison, LearningCurve, compare, learning_curve
from tanbark.evaluate.cross_validation import cross_validate
from tanbark.evaluate.metrics import METRICS
from tanbark.evaluate.results import CrossValidation
from tanbark.evaluate.table_vectorizer import TableVectorizer

__all__ = [
    "METRICS",
    "Comparison",
    "CrossValidation",
    "LearningCurve",
    "TableVectorizer",
    "compare",
    "cross_validate",
    "learning_curve",
]

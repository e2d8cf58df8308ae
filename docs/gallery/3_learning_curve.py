"""Learning curves.

The log loss on games of tic-tac-toe by the number of training games, with standard errors. They show whether more rows
or another classifier would help.
"""

from tanbark import KDB, TAN, NaiveBayes
from tanbark.datasets import tic_tac_toe
from tanbark.evaluate import learning_curve

models = {"naive Bayes": NaiveBayes(), "TAN": TAN(), "KDB": KDB(k=2)}
curve = learning_curve(models, *tic_tac_toe(), shares=(0.05, 0.1, 0.25, 0.5, 1.0), folds=5)
curve.plot("log_loss").figure.savefig("learning_curve.svg")

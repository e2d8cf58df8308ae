"""Are they as sure as they should be?

How often the predicted class is right against how probable it was said to be. Under the diagonal a classifier is too
sure: naive Bayes takes radius, perimeter and area for three witnesses.
"""

from pathlib import Path

from sklearn.datasets import load_breast_cancer

from tanbark import ForestAN, NaiveBayes
from tanbark.evaluate import compare, plots

cells = load_breast_cancer()
found = compare({"naive Bayes": NaiveBayes(), "forest": ForestAN()}, cells.data[:, :10], cells.target)
Path("reliability.svg").write_text(plots.reliability(found))

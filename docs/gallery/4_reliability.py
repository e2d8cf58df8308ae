"""Are they as sure as they should be?

How often the predicted class is right against how probable it was said to be, on simulated waves. Under the diagonal a
classifier is too sure: naive Bayes takes 21 points of one wave for independent witnesses.
"""

from pathlib import Path

from tanbark import AODE, TAN, NaiveBayes
from tanbark.datasets import waveform21
from tanbark.evaluate import compare, plots

found = compare({"naive Bayes": NaiveBayes(), "TAN": TAN(), "AODE": AODE()}, *waveform21(2000), folds=5)
Path("reliability.svg").write_text(plots.reliability(found))

"""Reliability diagram.

The accuracy of predictions by their predicted probability, on simulated waves. Below the diagonal a classifier is
overconfident: naive Bayes treats 21 points of one wave as independent evidence.
"""

from pathlib import Path

from tanbark import AODE, TAN, NaiveBayes
from tanbark.datasets import waveform21
from tanbark.evaluate import compare, plots

found = compare({"naive Bayes": NaiveBayes(), "TAN": TAN(), "AODE": AODE()}, *waveform21(2000), folds=5)
Path("reliability.svg").write_text(plots.reliability(found))

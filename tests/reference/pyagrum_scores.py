"""Make pyagrum_scores.json: python pyagrum_scores.py DATA_FOLDER [OUTPUT_FOLDER], with pyagrum, pandas and numpy."""

import math
import sys
from pathlib import Path

import pandas as pd
import pyagrum as gum
from counting import structures_to_score, write_json

HERE = Path(__file__).parent


def learner(frame, use, prior=0.0):
    """Return a learner with one of the scores and a BDeu prior of this weight."""
    it = gum.BNLearner(frame)
    getattr(it, use)()
    it.useBDeuPrior(prior)
    return it


def total(scorer, names, parents):
    """Return the score of a structure in nats."""
    bits = [scorer.score(names[v], [names[p] for p in above]) for v, above in enumerate(parents)]
    return math.log(2) * math.fsum(bits)


def main(data, output=HERE):
    result = {
        "command": "pyagrum.BNLearner(df), useScoreBIC(), useBDeuPrior(0), the sum over all columns of score(x, "
        "parents); likewise useScoreLog2Likelihood, useScoreK2, and useScoreBDeu with useBDeuPrior(999999)",
        "version": f"pyAgrum {gum.__version__}",
        "data": "all rows; every column text; the class is the last column",
        "parents": "for every column the numbers of its parents",
        "scores": "given here times log 2, since pyAgrum's are logarithms to the base 2; greater is better; no prior "
        "over structures. The equivalent sample size of BDeu is 1 and the prior's weight; pyAgrum's log Gamma is rough "
        "for small arguments, so that here BDeu of sample size 1 would be up to 0.4 percent off; of a million it is "
        "exact, and K2 is good to 8 digits. AIC is left out: a parameter costs one bit, where Akaike takes one nat",
        "sets": {},
    }
    for name, table, structures in structures_to_score(data):
        frame = pd.DataFrame(table.rows, columns=table.names, dtype=object)
        learners = {
            "BDeu, ess 1000000": learner(frame, "useScoreBDeu", 999_999.0),
            "BIC": learner(frame, "useScoreBIC"),
            "log likelihood": learner(frame, "useScoreLog2Likelihood"),
            "K2": learner(frame, "useScoreK2"),
        }
        result["sets"][name] = []
        for parents in structures:
            figures = {what: total(one, table.names, parents) for what, one in learners.items()}
            result["sets"][name].append({"parents": parents, **figures})
    write_json(result, Path(output) / "pyagrum_scores.json")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Make pgmpy_scores.json: python pgmpy_scores.py DATA_FOLDER [OUTPUT_FOLDER], with pgmpy and pandas installed."""

import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from counting import structures_to_score, write_json
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.structure_score import AIC, BIC, K2, BDeu

HERE = Path(__file__).parent


def main(data, output=HERE):
    result = {
        "command": "pgmpy.structure_score.BDeu(df, equivalent_sample_size=ESS).score(network), likewise BIC, AIC, K2",
        "version": f"pgmpy {version('pgmpy')}",
        "data": "all rows; every column text; the class is the last column",
        "parents": "for every column the numbers of its parents",
        "scores": "natural logarithms, greater is better; a parameter costs log(rows) / 2 in BIC, 1 in AIC; no prior "
        "over structures. K2 adds log Gamma(levels of x) for every configuration of the parents that no row has, which "
        "by the formula of Cooper and Herskovits adds nothing",
        "sets": {},
    }
    for name, table, structures in structures_to_score(data):
        frame = pd.DataFrame(table.rows, columns=table.names, dtype=object)
        scores = {
            "BDeu, ess 1": BDeu(frame, equivalent_sample_size=1),
            "BDeu, ess 10": BDeu(frame, equivalent_sample_size=10),
            "BIC": BIC(frame),
            "AIC": AIC(frame),
            "K2": K2(frame),
        }
        result["sets"][name] = []
        for parents in structures:
            network = DiscreteBayesianNetwork()
            network.add_nodes_from(table.names)
            network.add_edges_from((table.names[p], table.names[v]) for v, above in enumerate(parents) for p in above)
            figures = {what: float(score.score(network)) for what, score in scores.items()}
            result["sets"][name].append({"parents": parents, **figures})
    write_json(result, Path(output) / "pgmpy_scores.json")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Make pgmpy_tan.json: python pgmpy_tan.py DATA_FOLDER [OUTPUT_FOLDER], with pgmpy and pandas installed."""

import itertools
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from counting import Table, write_json
from pgmpy.estimators import TreeSearch
from pgmpy.inference import VariableElimination
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.parameter_estimator import DiscreteBayesianEstimator

HERE = Path(__file__).parent


def main(data, output=HERE):
    table = Table(Path(data) / "car_evaluation.csv")
    frame = pd.DataFrame(table.rows, columns=table.names, dtype=object)
    attributes, target = table.attributes, table.target
    weights = TreeSearch._get_conditional_weights(frame, target, n_jobs=1, show_progress=False)
    search = TreeSearch(frame, root_node=attributes[0], n_jobs=1)
    arcs = list(search.estimate(estimator_type="tan", class_node=target, show_progress=False).edges())
    network = DiscreteBayesianNetwork(arcs)
    network.fit(frame, estimator=DiscreteBayesianEstimator(prior_type="BDeu", equivalent_sample_size=10))

    cpds = {}
    for name in table.names:
        cpd = network.get_cpds(name)
        order = cpd.variables
        assert all(cpd.state_names[v] == table.levels[table.names.index(v)] for v in order)
        cpds[name] = {"axes": order, "values": cpd.values.tolist()}
    engine = VariableElimination(network)
    posteriors = []
    for row in table.spread(10):
        factor = engine.query([target], evidence=dict(zip(attributes, table.rows[row])), show_progress=False)
        posteriors.append({"row": row, "proba": factor.values.tolist()})
    arcs = sorted([table.names.index(u), table.names.index(v)] for u, v in arcs if u != target)
    result = {
        "command": "TreeSearch(df, root_node='buying').estimate(estimator_type='tan', class_node='class'), then "
        "DiscreteBayesianNetwork.fit with DiscreteBayesianEstimator(prior_type='BDeu', equivalent_sample_size=10), "
        "then VariableElimination",
        "version": f"pgmpy {version('pgmpy')}",
        "data": "car_evaluation.csv, all 1728 rows train; every column text with sorted levels; the class is the "
        "last column",
        "smoothing": "the pseudo-count is 10 / (levels of x * configurations of the parents), the class among the "
        "parents; for the class itself 10 / classes; no smoothing in the weights, which are I(u; v | class) in nats",
        "weights": [
            [u, v, float(weights[table.names.index(u), table.names.index(v)])]
            for u, v in itertools.combinations(attributes, 2)
        ],
        "attribute_arcs": [[table.names[u], table.names[v]] for u, v in arcs],
        "levels": dict(zip(table.names, table.levels)),
        "cpds": cpds,
        "whole_rows": posteriors,
    }
    write_json(result, Path(output) / "pgmpy_tan.json")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Make pyagrum_tan.json: python pyagrum_tan.py DATA_FOLDER [OUTPUT_FOLDER], with pyagrum, pandas and scikit-learn."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyagrum as gum
from counting import Table, conditional_mutual_information, margin, maximum_tree, write_json
from pyagrum.skbn import createBNClassifier

HERE = Path(__file__).parent


def posterior(engine, target, evidence):
    engine.eraseAllEvidence()
    engine.setEvidence(evidence)
    engine.makeInference()
    return engine.posterior(target).toarray().tolist()


def learn(table, prior, weight, edges=None):
    """Learn with pyAgrum, or only the parameters given edges; ask its exact inference about rows and attributes."""
    frame = pd.DataFrame(table.rows, columns=table.names, dtype=object)
    model = createBNClassifier(learningMethod="TAN", prior=prior, priorWeight=weight)
    model.fit(frame[table.attributes], frame[table.target])
    network = model.bn_
    if edges is not None:
        graph = gum.DAG(network.dag())
        for u, v in network.arcs():
            if network.variable(u).name() != table.target:
                graph.eraseArc(u, v)
        reached = [0]
        for u in reached:  # grows as we go: away from the first attribute
            for v in range(len(table.attributes)):
                if sorted([u, v]) in edges and v not in reached:
                    graph.addArc(network.idFromName(table.names[u]), network.idFromName(table.names[v]))
                    reached.append(v)
        network = model.learner_.learnParameters(graph)
    for name, levels in zip(table.names, table.levels):
        assert list(network.variable(name).labels()) == levels, name
    engine = gum.LazyPropagation(network)

    number, name = table.names.index, network.variable
    arcs = sorted([number(name(u).name()), number(name(v).name())] for u, v in network.arcs())
    arcs = [[table.names[u], table.names[v]] for u, v in arcs]
    random = np.random.default_rng(0)
    whole = [
        {"row": row, "proba": posterior(engine, table.target, dict(zip(table.attributes, table.rows[row])))}
        for row in table.spread(20)
    ]
    holes, queries = [], []
    for row in table.spread(20):
        hidden = random.permutation(table.attributes)[: random.integers(1, len(table.attributes))].tolist()
        evidence = {a: v for a, v in zip(table.attributes, table.rows[row]) if a not in hidden}
        holes.append({"row": row, "hidden": hidden, "proba": posterior(engine, table.target, evidence)})
        if len(queries) < 10:
            if len(queries) % 2:  # half of them know the class
                evidence[table.target] = table.rows[row][-1]
            proba = posterior(engine, hidden[0], evidence)
            queries.append({"target": hidden[0], "evidence": evidence, "proba": proba})
    root = next(a for a in table.attributes if network.parents(a) == {network.idFromName(table.target)})
    return {
        "attribute_arcs": [arc for arc in arcs if arc[0] != table.target],
        "cpt_of_class": network.cpt(table.target).toarray().tolist(),
        "cpt_of_root": {"attribute": root, "class_then_level": network.cpt(root).toarray().tolist()},
        "whole_rows": whole,
        "rows_with_holes": holes,
        "queries": queries,
    }


def main(data, output=HERE):
    result = {
        "command": "pyagrum.skbn.createBNClassifier(learningMethod='TAN', prior=PRIOR, priorWeight=WEIGHT).fit(X, "
        "y), then pyagrum.LazyPropagation on its network",
        "version": f"pyAgrum {gum.__version__}",
        "data": "all rows train; every column text with sorted levels; the class is the last column; lists of "
        "probabilities are in the order of the sorted levels",
        "smoothing": "Smoothing, weight 1: P(x | parents) = (n(x, parents) + 1) / (n(parents) + levels of x), "
        "P(class) = (n(class) + 1) / (n + classes). BDeu, weight 10: the pseudo-count is 10 / (levels of x * "
        "configurations of the parents), the class among the parents; for the class itself 10 / classes",
        "structure": "weights are conditional mutual information of tables smoothed by the same prior; edges below "
        "half the mean weight of all pairs are left out, so a forest may result; roots by mutual information with "
        "the class",
        "given the maximum tree": "only parameters and inference are pyAgrum's: the tree is the maximum spanning "
        "tree of the unsmoothed conditional mutual information, by counting; its margin (nats) is what the best "
        "exchange of one edge loses, 0 means tied trees",
        "sets": {},
    }
    for name in ["car_evaluation", "balance_scale", "nursery"]:
        table = Table(Path(data) / f"{name}.csv")
        of = {"data": f"{name}.csv", "train_rows": len(table.rows), "levels": dict(zip(table.names, table.levels))}
        of["Smoothing, weight 1"] = learn(table, "Smoothing", 1)
        of["BDeu, weight 10"] = learn(table, "BDeu", 10)
        weights = conditional_mutual_information(table)
        edges = maximum_tree(weights)
        of["BDeu, weight 10, given the maximum tree"] = learn(table, "BDeu", 10, edges)
        of["margin_of_the_maximum_tree"] = margin(weights, edges)
        result["sets"][name] = of
    write_json(result, Path(output) / "pyagrum_tan.json")


if __name__ == "__main__":
    main(*sys.argv[1:])

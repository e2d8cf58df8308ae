"""Make pyagrum_networks.json: python pyagrum_networks.py [OUTPUT_FOLDER], with pyagrum and numpy."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pyagrum as gum
from counting import write_json

HERE = Path(__file__).parent
# The attributes a0, a1, ... and, last, the class: the numbers of their parents.
NETWORKS = {
    "two dependences": [(8,), (0, 8), (1, 0, 8), (0, 2, 8), (3, 1, 8), (2, 4, 8), (5, 3, 8), (0, 6, 8), ()],
    "the class in the middle": [(), (0,), (), (8, 1), (3, 8, 2), (4,), (8, 4, 5), (6, 1, 0), (2, 0)],
}


def ask(parents, seed):
    """Return a network with random tables and what pyAgrum's exact inference says of rows with holes."""
    rng = np.random.default_rng(seed)
    nodes = len(parents)
    names = [*(f"a{u}" for u in range(nodes - 1)), "class"]
    arity = [*rng.integers(2, 5, nodes - 1).tolist(), 3]
    tables = [rng.dirichlet(np.ones(arity[v]), tuple(arity[p] for p in parents[v])).round(6) for v in range(nodes)]
    network = gum.BayesNet()
    for name, r in zip(names, arity):
        network.add(gum.LabelizedVariable(name, name, r))
    for v, above in enumerate(parents):
        tables[v][..., -1] = 1.0 - tables[v][..., :-1].sum(axis=-1)
        for p in above:
            network.addArc(names[p], names[v])
    for v, above in enumerate(parents):
        for at in itertools.product(*(range(arity[p]) for p in above)):
            row = tables[v][at].tolist()
            if above:
                network.cpt(names[v])[{names[p]: i for p, i in zip(above, at)}] = row
            else:
                network.cpt(names[v]).fillWith(row)
    engine = gum.LazyPropagation(network)
    cases = []
    for case in range(40):
        target = "class" if case % 2 else names[rng.integers(0, nodes)]
        known = [v for v in range(nodes) if names[v] != target and rng.random() < rng.choice([0.2, 0.5, 0.8])]
        evidence = {names[v]: int(rng.integers(0, arity[v])) for v in known}
        engine.eraseAllEvidence()
        engine.setEvidence(evidence)
        engine.makeInference()
        cases.append({"target": target, "evidence": evidence, "proba": engine.posterior(target).toarray().tolist()})
    return {
        "parents": [list(above) for above in parents],
        "arity": arity,
        "tables": [table.tolist() for table in tables],
        "queries": cases,
    }


def main(output=HERE):
    result = {
        "command": "pyagrum.LazyPropagation on networks with given tables",
        "version": f"pyAgrum {gum.__version__}",
        "tables": "one axis per parent in the order given, the node's own values last; the class is the last node",
        "networks": {name: ask(parents, seed) for seed, (name, parents) in enumerate(NETWORKS.items())},
    }
    write_json(result, Path(output) / "pyagrum_networks.json")


if __name__ == "__main__":
    main(*sys.argv[1:])

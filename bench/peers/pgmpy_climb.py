"""Time pgmpy's hill climbing: python pgmpy_climb.py --data FILE.npz --repeat N. BDeu, ess 1, no limits."""

import json
import logging
import warnings
from importlib.metadata import version

from common import arguments, best, importing, load


def main():
    options = arguments()
    warnings.simplefilter("ignore")
    with importing("pgmpy"):
        import pandas as pd
        from pgmpy.causal_discovery import HillClimbSearch
        from pgmpy.structure_score import BDeu
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    X, y, _ = load(options.data)
    frame = pd.DataFrame(X).assign(y=y)
    frame.columns = [str(u) for u in range(frame.shape[1])]

    def fit():
        score = BDeu(frame, equivalent_sample_size=1)
        search = HillClimbSearch(scoring_method=score, return_type="dag", show_progress=False)
        return search.fit(frame).causal_graph_

    taken, graph = best(fit, options.repeat)
    edges = [(int(parent), int(child)) for parent, child in graph.edges()]
    print(json.dumps({"peer": "pgmpy", "version": version("pgmpy"), "fit_seconds": taken, "edges": edges}))


if __name__ == "__main__":
    main()

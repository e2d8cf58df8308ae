"""Make exported_networks.json: python exported_networks.py [OUTPUT_FOLDER], with tanbark: files for peers to read."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np

from tanbark import export

HERE = Path(__file__).parent


def questions(network, rng):
    """Return ten questions: the number of the target, and the number of the value of every node that is known."""
    arity = [*network.schema.arity.tolist(), len(network.schema.classes)]
    asked = []
    for case in range(10):
        target = len(arity) - 1 if case % 3 else int(rng.integers(0, len(arity)))
        known = [v for v in range(len(arity)) if v != target and rng.random() < 0.6]
        asked.append({"target": target, "evidence": {str(v): int(rng.integers(0, arity[v])) for v in known}})
    return asked


def main(output=HERE):
    rng = np.random.default_rng(0)
    networks = runpy.run_path(str(HERE.parent / "export" / "conftest.py"))["make_networks"]()
    result = {
        "questions": "nodes and values by their place in the file, from 0",
        "networks": {
            name: {"bif": export.bif(one), "xmlbif": export.xmlbif(one), "questions": questions(one, rng)}
            for name, one in networks.items()
        },
    }
    Path(output, "exported_networks.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

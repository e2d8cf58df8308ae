"""Make pyagrum_exports.json: python pyagrum_exports.py [OUTPUT_FOLDER], with pyagrum: what it makes of our files."""

import json
import sys
import tempfile
from pathlib import Path

import pyagrum as gum

HERE = Path(__file__).parent
WRITTEN = ("naive Bayes", "class with parents")


def answers(network, names, questions):
    """Return the probabilities that a network gives to the values of each target."""
    engine = gum.LazyPropagation(network)
    found = []
    for question in questions:
        engine.eraseAllEvidence()
        engine.setEvidence({names[int(v)]: at for v, at in question["evidence"].items()})
        engine.makeInference()
        found.append(engine.posterior(names[question["target"]]).toarray().tolist())
    return found


def main(output=HERE):
    networks = json.loads((HERE / "exported_networks.json").read_text())["networks"]
    result = {
        "command": "loadBN of exported_networks.json, then LazyPropagation; what saveBN makes of two of them",
        "version": f"pyAgrum {gum.__version__}",
        "precision": "its reader of BIF takes probabilities as floats of single precision, that of XMLBIF as doubles",
        "networks": {},
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, one in networks.items():
            found = result["networks"][name] = {}
            for form, ending in (("bif", "bif"), ("xmlbif", "bifxml")):
                path = Path(folder, f"network.{ending}")
                path.write_text(one[form], encoding="utf-8")
                network = gum.loadBN(str(path))
                names = [network.variable(node).name() for node in sorted(network.nodes())]
                found[form] = {"names": names, "answers": answers(network, names, one["questions"])}
                if name in WRITTEN:
                    gum.saveBN(network, str(path), allowModificationWhenSaving=True)
                    again = answers(gum.loadBN(str(path)), names, one["questions"])
                    found[form] |= {"written": path.read_text(encoding="utf-8"), "answers again": again}
    Path(output, "pyagrum_exports.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

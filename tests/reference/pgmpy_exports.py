"""Make pgmpy_exports.json: python pgmpy_exports.py [OUTPUT_FOLDER], with pgmpy: what it makes of our files."""

import json
import sys
from importlib.metadata import version
from pathlib import Path

from pgmpy.inference import VariableElimination
from pgmpy.readwrite import BIFReader, BIFWriter, XMLBIFReader, XMLBIFWriter

HERE = Path(__file__).parent
WRITTEN = ("naive Bayes", "class with parents")
FORMS = {"bif": (BIFReader, BIFWriter), "xmlbif": (XMLBIFReader, XMLBIFWriter)}


def answers(reader, names, questions):
    """Return the probabilities that the network of a reader gives to the values of each target."""
    engine = VariableElimination(reader.get_model())
    found = []
    for question in questions:
        evidence = {names[int(v)]: reader.variable_states[names[int(v)]][at] for v, at in question["evidence"].items()}
        target = names[question["target"]]
        factor = engine.query([target], evidence=evidence, show_progress=False)
        states = factor.state_names[target]
        found.append([float(factor.values[states.index(state)]) for state in reader.variable_states[target]])
    return found


def main(output=HERE):
    networks = json.loads((HERE / "exported_networks.json").read_text())["networks"]
    result = {
        "command": "BIFReader and XMLBIFReader of exported_networks.json, then VariableElimination; what BIFWriter and "
        "XMLBIFWriter make of two of them",
        "version": f"pgmpy {version('pgmpy')}",
        "networks": {},
    }
    for name, one in networks.items():
        found = result["networks"][name] = {}
        for form, (reader, writer) in FORMS.items():
            read = reader(string=one[form])
            names = list(read.variable_states)
            found[form] = {"names": names, "answers": answers(read, names, one["questions"])}
            if name in WRITTEN:
                text = str(writer(read.get_model()))
                found[form] |= {"written": text, "answers again": answers(reader(string=text), names, one["questions"])}
    Path(output, "pgmpy_exports.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

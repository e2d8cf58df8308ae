"""Make the four weka_*.json: python weka.py DATA_FOLDER WEKA_JAR [OUTPUT_FOLDER]."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from counting import Table, conditional_mutual_information, margin, write_json

HERE = Path(__file__).parent
BAYES_NET = "weka.classifiers.bayes.BayesNet"
TREE_SEARCH = "weka.classifiers.bayes.net.search.local.TAN"
ESTIMATOR = "weka.classifiers.bayes.net.estimate.SimpleEstimator"
NAIVE_BAYES = "weka.classifiers.bayes.NaiveBayes"
AODE = "weka.classifiers.bayes.AODE"


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def write_arff(table, path, numeric=False):
    """Declare every column nominal with sorted levels, or with numeric=True all but the class numeric."""
    with path.open("w") as file:
        print("@relation t", file=file)
        for name, levels in zip(table.names, table.levels):
            nominal = name == table.target or not numeric
            kind = "{" + ",".join(map(quoted, levels)) + "}" if nominal else "numeric"
            print("@attribute", quoted(name), kind, file=file)
        print("@data", file=file)
        for row in table.rows:
            cells = [v if numeric else quoted(v) for v in row[:-1]] + [quoted(row[-1])]
            print(",".join(c if v else "?" for c, v in zip(cells, row)), file=file)


class Weka:
    def __init__(self, jar, folder):
        self.folder, self.classpath = folder, f"{jar}:{folder}"
        subprocess.run(["javac", "-cp", jar, "-d", folder, HERE / "WekaReference.java"], check=True)

    def __call__(self, table, mode, *arguments, numeric=False):
        arff = Path(self.folder) / "table.arff"
        write_arff(table, arff, numeric)
        command = ["java", "-cp", self.classpath, "WekaReference", mode, str(arff), *arguments]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def tan(weka, data):
    result = {
        "command": f"{BAYES_NET} -D -Q {TREE_SEARCH} -- -S SCORE -E {ESTIMATOR} -- -A ALPHA",
        "data": "all rows train; every column nominal with sorted levels (as text); the class is the last column",
        "smoothing": "P(x | parents) = (n(x, parents) + alpha) / (n(parents) + alpha * levels of x), parents always "
        "with the class; P(class) = (n(class) + alpha) / (n + alpha * classes)",
        "scores": "ENTROPY: log-likelihood, so an edge weighs n * I(u; v | class), the conditional mutual "
        "information; BDeu: Dirichlet with pseudo-count 1 / (levels * parent configurations), equivalent sample "
        "size 1; BAYES (Weka's default): pseudo-count 0.5 per cell, not symmetric in u and v; -A does not reach "
        "these scores",
        "margin": "by counting, not by Weka: what the ENTROPY tree's conditional mutual information (nats) loses by "
        "the best exchange of one edge; 0 means tied trees",
        "sets": {},
    }
    for name in ["car_evaluation", "nursery", "tic_tac_toe", "chess_kr_vs_kp"]:
        table = Table(data / f"{name}.csv")
        rows = table.spread(30)
        of = {"data": f"{name}.csv", "train_rows": len(table.rows), "classes": table.levels[-1], "trees": {}}
        of |= {"rows": rows, "proba": {}}
        for score, alpha in [("ENTROPY", "1"), ("ENTROPY", "0.5"), ("BDeu", "1"), ("BAYES", "0.5")]:
            options = ["-D", "-Q", TREE_SEARCH, "--", "-S", score, "-E", ESTIMATOR, "--", "-A", alpha]
            out = weka(table, "classify", ",".join(map(str, rows)), BAYES_NET, *options)
            parents = {a: [p for p in out["parents"][a] if p != table.target] for a in table.attributes}
            assert all(table.target in out["parents"][a] for a in table.attributes)
            index = table.attributes.index
            edges = sorted(sorted([index(a), index(p)]) for a in parents for p in parents[a])
            of["trees"][score] = {
                "edges": [[table.attributes[u], table.attributes[v]] for u, v in edges],
                "root": next(a for a in parents if not parents[a]),
            }
            if score == "ENTROPY":
                of["margin"] = margin(conditional_mutual_information(table), edges)
            of["proba"][f"{score}, alpha {alpha}"] = out["proba"]
            result["version"] = out["version"]
        result["sets"][name] = of
    return result


def naive_bayes(weka, data):
    result = {
        "command": NAIVE_BAYES,
        "data": "all rows train; every column nominal with sorted levels of the values present; empty is missing; "
        "the class is the last column; only rows with something missing are predicted",
        "smoothing": "P(class) = (n(class) + 1) / (n + classes); P(x | class) = (n(x, class) + 1) / (n(class and x "
        "present) + levels of x); a missing attribute has no factor",
        "sets": {},
    }
    for name in ["congressional_voting", "mushroom"]:
        table = Table(data / f"{name}.csv")
        rows = table.spread(30, np.flatnonzero((table.codes < 0).any(1)))
        out = weka(table, "classify", ",".join(map(str, rows)), NAIVE_BAYES)
        of = {"data": f"{name}.csv", "train_rows": len(table.rows), "classes": table.levels[-1], "rows": rows}
        result["sets"][name] = of | {"proba": out["proba"]}
        result["version"] = out["version"]
    return result


def aode(weka, data):
    result = {
        "command": f"{AODE} -F LIMIT",
        "data": "all rows train; every column nominal with sorted levels (as text); the class is the last column",
        "smoothing": "P(class, x) = (n(class, x) + 1) / (n + classes * levels of x); P(z | class, x) = (n(class, x, z) "
        "+ 1) / (n(class, x) + levels of z); the joints of all attributes x whose value n(x) >= LIMIT are averaged; "
        "naive Bayes, P(class) = (n(class) + 1) / (n + classes), where none is",
        "sets": {},
    }
    for name in ["car_evaluation", "nursery", "chess_kr_vs_kp"]:
        table = Table(data / f"{name}.csv")
        rows = table.spread(30)
        of = {"data": f"{name}.csv", "train_rows": len(table.rows), "classes": table.levels[-1], "rows": rows}
        of["proba"] = {}
        for limit in ["1", "30", "700"]:
            out = weka(table, "classify", ",".join(map(str, rows)), AODE, "-F", limit)
            of["proba"][limit] = out["proba"]
        result["sets"][name] = of
        result["version"] = out["version"]
    return result


def mdlp(weka, data):
    result = {
        "command": "weka.filters.supervised.attribute.Discretize (defaults: Fayyad and Irani's MDL criterion)",
        "data": "all rows; all columns but the class numeric; the class is the last column",
        "rule": "a value equal to a cut belongs below it; a cut is the mean of two neighbouring distinct values; "
        "all such are candidates; accepted if gain > (log2(N - 1) + delta) / N; an empty list: no cut accepted",
        "sets": {},
    }
    for name in ["iris", "wine", "glass", "pima"]:
        out = weka(Table(data / f"{name}.csv"), "discretize", numeric=True)
        result["sets"][name] = {"data": f"{name}.csv", "cuts": out["cuts"]}
        result["version"] = out["version"]
    return result


def main(data, jar, output=HERE):
    with tempfile.TemporaryDirectory() as folder:
        weka = Weka(jar, folder)
        for name, make in [("tan", tan), ("naive_bayes", naive_bayes), ("aode", aode), ("mdlp", mdlp)]:
            write_json(make(weka, Path(data)), Path(output) / f"weka_{name}.json")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Time Weka's TAN or AODE in a Java virtual machine: python weka_bayes.py --data FILE.npz [--classifier aode]."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from common import absent, arguments, load, report

DEBIAN_JAR = "/usr/share/java/weka.jar"


def write_arff(path, X, y, levels, classes):
    with path.open("w") as file:
        print("@relation t", file=file)
        for i, n in enumerate(levels):
            print(f"@attribute x{i} {{{','.join(map(str, range(n)))}}}", file=file)
        print(f"@attribute y {{{','.join(map(str, range(classes)))}}}", file=file)
        print("@data", file=file)
        table = np.column_stack([X, y])
        for start in range(0, len(table), 10_000):
            file.writelines(",".join(map(str, row)) + "\n" for row in table[start : start + 10_000].tolist())


def main():
    options = arguments(
        classifier=("tan", "tan or aode"),
        jar=(os.environ.get("WEKA_JAR", DEBIAN_JAR), "the path of weka.jar; default from the variable WEKA_JAR"),
        score=("ENTROPY", "the score of the tree: ENTROPY (conditional mutual information) or BAYES (Weka's default)"),
        memory=("16g", "the maximum memory of the virtual machine"),
    )
    if not Path(options.jar).is_file():
        absent("Weka", f"no file {options.jar}")
    for program in ("java", "javac"):
        if not shutil.which(program):
            absent("Weka", f"no {program}")
    X, y, X_test = load(options.data)
    levels, classes = np.maximum(X.max(0), X_test.max(0)) + 1, y.max() + 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_arff(folder / "train.arff", X, y, levels, classes)
        write_arff(folder / "test.arff", X_test, np.zeros(len(X_test), dtype=int), levels, classes)
        source = Path(__file__).with_name("WekaBench.java")
        subprocess.run(["javac", "-cp", options.jar, "-d", folder, source], check=True)
        command = ["java", f"-Xmx{options.memory}", "-cp", f"{options.jar}{os.pathsep}{folder}", "WekaBench"]
        command += [folder / "train.arff", folder / "test.arff", str(options.repeat)]
        if options.classifier == "aode":
            command += ["weka.classifiers.bayes.AODE", "-F", "1"]
        else:
            # -D counts from the rows; the default, an ADTree, needs gigabytes.
            command += ["weka.classifiers.bayes.BayesNet", "-D", "-Q", "weka.classifiers.bayes.net.search.local.TAN"]
            command += ["--", "-S", options.score]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    report(f"Weka {options.classifier.upper()}", **json.loads(done.stdout))


if __name__ == "__main__":
    main()

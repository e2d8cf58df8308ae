"""Mutants of the code that computes: which small changes of it does no test notice?

`python tests/mutants.py [--package counts] [--sample 400] [--seed 0]` draws mutants evenly over files, lets mutmut run
each of them (it is set up in pyproject.toml), and prints those that survived, as changes, and how many met which end.
Within mutmut's processes this file is a plugin of pytest that chooses the order of the tests.
"""

import argparse
import gc
import itertools
import json
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "mutants"
PACKAGES = ("counts", "averaging", "structure")
SECONDS = 8.0
"""So long may the tests of others take that a mutant is given to."""
ENDS = {0: "survived", 1: "killed", 3: "killed", 33: "no tests"} | dict.fromkeys((24, -24, 36, 152, 255), "timed out")


def pytest_collection_modifyitems(config, items):
    """Begin with a mutant's own tests and the fastest of the others, and end where a mutant would take too long."""
    stats = Path("mutmut-stats.json")
    seconds = json.loads(stats.read_text())["duration_by_test"] if stats.exists() else {}
    name = os.environ.get("MUTANT_UNDER_TEST", "")
    own = "/test_".join(name.split(".")[1:3]) + ".py" if "__mutmut_" in name else None
    items.sort(key=lambda item: (own is not None and own not in item.nodeid, seconds.get(item.nodeid, 0.0)))
    if own is not None:
        # Its own tests are all run, whatever they take.
        before = sum(own in item.nodeid for item in items)
        until = itertools.accumulate(seconds.get(item.nodeid, 0.0) for item in items[before:])
        within = max(before + sum(total <= SECONDS for total in until), 1)
        config.hook.pytest_deselected(items=items[within:])
        del items[within:]
    for item in items:
        if not hasattr(item, "_nodeid"):  # mutmut 3.8 reads what pytest 9 no longer has
            item._nodeid = item.nodeid


def pytest_collection_finish(session):
    """Load every compiled kernel in the process that only collects tests: those that are forked off it have them."""
    if not session.config.option.collectonly:
        return
    for module in [module for name, module in sys.modules.items() if name.startswith("tanbark.kernels.")]:
        for kernel in vars(module).values():
            cache = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
            for signature, *_ in cache._load_index() if cache else ():
                kernel.compile(signature)
    gc.freeze()


def mutmut(*words):
    """Return what mutmut prints, or end with it where mutmut could not do what it was told."""
    command = [str(Path(sys.executable).with_name("mutmut")), *words]
    done = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout[-10_000:]}\n{done.stderr[-10_000:]}")
    return done.stdout


def ends(package):
    """Return for every file of a package how its mutants ended, by name; None if they were not run."""
    files = sorted((FOLDER / "src" / "tanbark" / package).glob("*.meta"))
    return {file: json.loads(file.read_text())["exit_code_by_key"] for file in files}


def drawn(mutants_of_files, sample, seed):
    """Return about as many names as asked for, the same share of every file."""
    share = sample / sum(map(len, mutants_of_files))
    rng = random.Random(seed)
    return [name for names in mutants_of_files for name in rng.sample(sorted(names), round(share * len(names)))]


def main():
    """Draw, run, report."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--package", choices=PACKAGES, action="append")
    options.add_argument("--sample", type=int, help="how many mutants; all of them unless said")
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    packages = chosen.package or PACKAGES

    # mutmut writes its mutants before it looks for the one that it shall run.
    mutmut("run", "--max-children", "1", "tanbark.counts.family_counts.x_count_tree__mutmut_1")
    files = [list(names) for package in packages for names in ends(package).values()]
    names = drawn(files, chosen.sample or sum(map(len, files)), chosen.seed)
    mutmut("run", "--max-children", "1", *names)

    run = set(names)
    table = defaultdict(Counter)
    for package in packages:
        for end_of in ends(package).values():
            for name, code in end_of.items():
                table[package]["made"] += 1
                if name in run:
                    end = ENDS.get(code, "crashed")
                    table[package][end] += 1
                    if end == "survived":
                        print(mutmut("show", name))
    for package, count in table.items():
        print(package, dict(count))


if __name__ == "__main__":
    main()

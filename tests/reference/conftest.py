"""The scripts here need software that the tests do not: pytest must not import them."""

collect_ignore = [
    "counting.py",
    "weka.py",
    "pyagrum_tan.py",
    "pyagrum_networks.py",
    "pyagrum_scores.py",
    "pgmpy_tan.py",
    "pgmpy_scores.py",
    "exported_networks.py",
    "pgmpy_exports.py",
    "pyagrum_exports.py",
]

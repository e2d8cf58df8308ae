"""Rules of the code base: types, import layers, private attributes, file names and class hierarchies."""

import ast
import os
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

import tanbark

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "tanbark"


def test_the_types_are_right():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout


def test_imports_point_downwards():
    pytest.importorskip("importlinter")
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def package_of(path):
    """Return the top-level package, or the module itself if it is in none."""
    return path.relative_to(PACKAGE).parts[0]


def private_accesses(tree, own):
    """Yield accesses to private attributes of other objects, except to names that the package itself defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            of_itself = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not of_itself and node.attr not in own:
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tanbark"):
            imported = [*node.module.split("."), *(alias.name for alias in node.names)]
            yield from ((node.lineno, f"import {name}") for name in imported if is_private(name))


def defined_names(trees):
    """Return all names that modules define: functions, classes, fields and attributes that are assigned."""
    found = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


FOREIGN = {"segment._replace", "self.layout._replace", "sys._getframe", "df._meta"}
"""Attributes of other libraries whose names begin with an underscore."""


def test_no_package_accesses_private_attributes_of_another():
    trees = {path: ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")}
    found = []
    for path, tree in trees.items():
        own = defined_names(other for place, other in trees.items() if package_of(place) == package_of(path))
        found += [
            f"{path.relative_to(PACKAGE)}:{line}: {access}"
            for line, access in private_accesses(tree, own)
            if access not in FOREIGN
        ]
    assert not found, "\n".join(found)


def test_the_checker_finds_private_accesses():
    tree = ast.parse("from tanbark._x import _y\nmodel._tables\nself._own\nmodel._known\nmodel.__class__")
    found = [access for _, access in private_accesses(tree, {"_known"})]
    assert found == ["import _x", "import _y", "model._tables"]


def test_no_two_files_of_the_package_have_the_same_name():
    names = Counter(path.name for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("name", [name for name in tanbark.__all__ if name[0].isupper()])
def test_at_most_three_classes_of_tanbark_are_in_the_hierarchy_of_an_estimator(name):
    thing = getattr(tanbark, name)
    assert sum(base.__module__.startswith("tanbark") for base in thing.__mro__) <= 3


def test_every_package_says_what_it_is_for():
    for init in PACKAGE.rglob("__init__.py"):
        module = ".".join(init.relative_to(PACKAGE.parent).parts[:-1])
        assert import_module(module).__doc__, module


PATH_OF_A_FIT = """
import sys
from pathlib import Path
import numpy as np, tanbark
root = str(Path(tanbark.__file__).parent)
rng = np.random.default_rng(0)
X = np.column_stack([rng.choice(["a", "b"], 200), rng.integers(0, 3, 200), rng.normal(size=200)]).astype(object)
X[::7, 0] = None
y = rng.choice(["no", "yes"], 200)
files, crossings = set(), 0
def package(path):
    return path[len(root) + 1 :].split("/")[0]
def called(frame, event, _):
    global crossings
    here = frame.f_code.co_filename
    if event == "call" and here.startswith(root):
        files.add(here)
        caller = frame.f_back.f_code.co_filename
        crossings += caller.startswith(root) and package(caller) != package(here)
model = tanbark.TAN().fit(X, y)
sys.setprofile(called)
model.fit(X, y)
sys.setprofile(None)
print(len(files), crossings)
"""


def test_a_fit_can_be_followed_in_few_files():
    # The plain-Python versions of the kernels are traced too.
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PATH_OF_A_FIT], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    files, crossings = map(int, done.stdout.split())
    assert files <= 27
    assert crossings <= 40

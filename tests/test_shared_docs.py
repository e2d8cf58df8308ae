"""Docstrings with shared parts."""

import inspect
import pkgutil
import re
from importlib import import_module

import pytest

import tanbark
from tanbark.shared_docs import insert_shared_docs

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(tanbark.__path__, "tanbark.")
    if module.name not in ("tanbark.__main__", "tanbark.shared_docs")
)


def documented(module):
    """Yield the functions and classes that a module defines, and the members of these classes."""
    for thing in vars(module).values():
        if getattr(thing, "__module__", None) == module.__name__:
            yield thing
            yield from vars(thing).values() if inspect.isclass(thing) else ()


@pytest.mark.parametrize("name", MODULES)
def test_no_docstring_has_a_placeholder_left(name):
    try:
        module = import_module(name)
    except ImportError as error:
        pytest.skip(f"an optional package is missing: {error}")
    docstrings = [getattr(thing, "__doc__", None) for thing in documented(module)]
    left = [text for text in docstrings if isinstance(text, str) and re.search(r"^ *\{\w+\}$", text, re.MULTILINE)]
    assert left == []


def test_texts_are_inserted_with_the_indentation_of_their_place():
    @insert_shared_docs
    class Learner:
        """A learner.

        Parameters
        ----------
        {n_jobs}
        """

        @property
        def threads(self):
            """The threads.

            {n_jobs}
            """

        @classmethod
        def new(cls):
            """{not a placeholder}"""

    text = "n_jobs : int or None, default=None\n    The number of threads, as in scikit-learn: None means one, -1 all."
    assert inspect.getdoc(Learner).endswith(text)
    assert inspect.getdoc(Learner.threads) == f"The threads.\n\n{text}"
    assert Learner.new.__doc__ == "{not a placeholder}"


def test_braces_in_docstrings_of_users_stay_as_they_are():
    class Mine(tanbark.TAN):
        """My classifier.

        {formula}
        """

    assert "{formula}" in Mine.__doc__

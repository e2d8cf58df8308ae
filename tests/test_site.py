"""What the site's pages are made of beside their text: code, tables, references, pictures, commands."""

import importlib
import re
from pathlib import Path

import pytest
from typer.main import get_command

import tanbark
from parts import MAKERS, MARKER, api, citations, classifiers, code, commands, gallery, sample
from tanbark.classifiers import REGISTRY
from tanbark.cli import app
from tanbark.datasets import lenses

DOCS = Path(__file__).parent.parent / "docs"
TEXTS = {str(path.relative_to(DOCS)): path.read_text() for path in DOCS.glob("**/*.md")}
MARKED = sorted({(kind, argument) for text in TEXTS.values() for kind, argument in MARKER.findall(text)})
DOCUMENTED = [
    "tanbark",
    "tanbark.counts",
    "tanbark.datasets",
    "tanbark.evaluate",
    "tanbark.export",
    "tanbark.scores",
    "tanbark.sources",
]


@pytest.mark.parametrize(("kind", "argument"), [pair for pair in MARKED if pair[0] != "gallery"])
def test_what_a_page_asks_for_can_be_made(kind, argument):
    assert MAKERS[kind](*filter(None, (argument,))).strip()


def test_code_is_shown_as_it_stands_in_its_file():
    shown = code.block("tanbark.kernels.trees.information_trees.grow_tree").splitlines()
    first, last = map(int, re.search(r"lines (\d+) to (\d+)", shown[0]).groups())
    file = Path(tanbark.__file__).parent / "kernels" / "trees" / "information_trees.py"
    assert shown[1:-1] == file.read_text().splitlines()[first - 1 : last]
    assert "def grow_tree" in shown[2]


@pytest.mark.parametrize("module", DOCUMENTED)
def test_every_public_name_is_in_the_reference(module):
    [page] = [page for page, text in TEXTS.items() if f"<!-- api: {module} -->" in text]
    assert page.startswith("reference/")
    described = api.members(module)
    for name in importlib.import_module(module).__all__:
        assert re.search(rf"^::: tanbark\.[\w.]*\b{name}$", described, re.M)


def test_every_page_is_in_the_navigation():
    nav = (DOCS.parent / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    pages = set(re.findall(r"[\w/]+\.md", nav))
    assert pages - {"changes.md", "security.md"} == set(TEXTS)


@pytest.mark.parametrize("name", REGISTRY)
def test_the_table_of_classifiers_says_what_the_fitted_classifier_can_do(name):
    X, y = lenses()
    model = REGISTRY[name].classifier().fit(X, y)
    [row] = [row for row in classifiers.table().splitlines() if f"[`{type(model).__name__}`]" in row]
    cells = [cell.strip() for cell in row.strip("| ").split("|")]
    for ability, cell in zip(("partial_fit", "explain", "score_samples"), cells[2:5]):
        try:
            getattr(model, ability)(*((X, y) if ability == "partial_fit" else (X,)))
            assert cell == "yes" or cell.startswith("with")
        except AttributeError:
            assert cell == "no" or cell.startswith("with")


def test_every_setting_of_the_table_of_classifiers_makes_a_difference():
    words = " ".join(classifiers.table().splitlines()[2:])
    assert all(setting in words for setting, _ in classifiers.SPECIAL_SETTINGS.values())
    assert set(classifiers.COST) == set(classifiers.WHEN) == set(REGISTRY)


def names_in(docstring):
    """Return the first author's surname and the year of every reference of a docstring."""
    listed = docstring.partition("References\n")[2].partition("Examples\n")[0]
    return re.findall(r"^ *([A-Z][^\d(,]*), [A-Z]\.[^(]*?\((\d{4})\)", listed, re.M)


@pytest.mark.parametrize("name", [*REGISTRY, "markov-blanket-selector"])
def test_every_paper_of_a_classifier_is_in_the_literature(name):
    owner = REGISTRY[name].classifier if name in REGISTRY else tanbark.MarkovBlanketSelector
    known = {(citations.surnames(entry)[0], entry["year"]) for entry in citations.entries().values()}
    papers = names_in(owner.__doc__)
    assert papers
    assert set(papers) <= known


def test_every_paper_of_the_registry_is_in_the_literature():
    known = {(citations.surnames(entry)[0], entry["year"]) for entry in citations.entries().values()}
    for entry in REGISTRY.values():
        assert (re.match(r"\w+", entry.paper)[0], entry.paper[-4:]) in known


def test_every_reference_has_what_a_reader_needs():
    text = citations.FILE.read_text()
    assert len(citations.entries()) == text.count("@")
    assert all({"author", "title", "year"} <= set(entry) for entry in citations.entries().values())


def test_every_citation_is_in_the_literature():
    cited = {key for text in TEXTS.values() for key in citations.CITATION.findall(text)}
    assert cited
    assert cited <= set(citations.entries())


def test_every_command_and_option_is_in_the_reference():
    reference = commands.reference()
    for name, command in get_command(app).commands.items():
        section = reference.partition(f"## tanbark {name}\n")[2].partition("\n## ")[0]
        assert section
        for param in command.params:
            if param.param_type_name == "option" and not param.hidden:
                assert all(f"`{option}`" in section for option in param.opts)


@pytest.mark.parametrize("script", gallery.scripts(), ids=gallery.title)
def test_the_script_draws_its_picture(script):
    shown = gallery.section(script)
    assert shown.startswith("## ")
    assert shown.count("<svg ") == shown.count("</svg>") == 1
    assert 'role="img"' in shown
    assert script.read_text().strip().splitlines()[-1] in shown


def test_the_sample_report_is_a_page_about_the_lumps():
    page = sample.report()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "concave points" in page

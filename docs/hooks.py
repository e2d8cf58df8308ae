"""What the build of the site does beyond mkdocs: parts of pages made from the program, formulas, and no network."""

import re
from html import unescape
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

import parts
from parts import citations, sample

ROOT = Path(__file__).parent.parent
PROMPT = re.compile(r"^```python\n(?=>>> )", re.M)
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.S)
ROOM = '<mspace width="0.17em"/>'
# The theme would fetch these for a kind of drawing that no page has, and for browsers of long ago.
UNUSED = re.compile(r"https://unpkg\.com/[^\"]*")
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(?:https?:)?//[^>]*>"""
    r"""|<link(?=[^>]*\srel=["']?(?:stylesheet|preconnect|preload|icon))[^>]*\shref=["']?(?:https?:)?//[^>]*>"""
    r"""|url\(\s*["']?(?:https?:)?//[^)]*\)|@import[^;]*//[^;]*;|unpkg\.com|cdn\.|jsdelivr"""
)


def on_files(files, config):
    """Add what lies beside the folder of pages and is linked from there, and a report to look at."""
    beside = {"CHANGELOG.md": "changes.md", "SECURITY.md": "security.md"}
    for path in (*(ROOT / name for name in beside), *sorted(ROOT.glob("bench/results/*.md"))):
        name = beside.get(path.name, f"measurements/{path.name}")
        files.append(File.generated(config, name, content=path.read_text().replace("](docs/", "](")))
    files.append(File.generated(config, "sample_report.html", content=sample.report()))
    return files


def on_page_markdown(markdown, page, config, files):
    """Put a page's parts in, and turn its links to measurements to where these are in the site."""
    to_root = "../" * page.file.src_uri.count("/")
    markdown = markdown.replace("](../bench/results/", f"]({to_root}measurements/")
    markdown = markdown.replace("](../SECURITY.md)", f"]({to_root}security.md)")
    try:
        markdown = citations.cite(parts.expand(markdown), to_root)
    except KeyError as missing:
        raise PluginError(f"{page.file.src_uri}: nothing is called {missing}") from missing
    return PROMPT.sub("```pycon\n", markdown)


def on_page_content(html, page, config, files):
    """Turn formulas into MathML, which browsers show without a script."""
    return FORMULA.sub(lambda found: formula(unescape(found[3]).strip(), found[2] == "["), html)


def formula(latex, apart):
    """Return a formula as MathML: in a box of its own, which can be scrolled where it is wide, or within a line."""
    shown = convert(latex, display="block" if apart else "inline").replace("<mi>log</mi>", f"{ROOM}<mi>log</mi>{ROOM}")
    return f'<div class="formula">{shown}</div>' if apart else shown


def on_post_build(config):
    """Raise if anything in the site would be fetched from elsewhere."""
    for path in sorted(Path(config.site_dir).rglob("*")):
        if path.suffix == ".js":
            path.write_text(UNUSED.sub("", path.read_text()))
        if path.suffix in (".html", ".js", ".css") and (found := FETCHED.search(path.read_text())):
            raise PluginError(f"{path} would fetch {found[0][:200]}")

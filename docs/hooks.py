"""Hooks of the site build: generated parts of pages, formulas as MathML, and a check that nothing is fetched."""

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
THIN_SPACE = '<mspace width="0.17em"/>'
# Scripts that the theme would fetch for Mermaid diagrams, which no page has, and for old browsers.
UNUSED = re.compile(r"https://unpkg\.com/[^\"]*")
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(?:https?:)?//[^>]*>"""
    r"""|<link(?=[^>]*\srel=["']?(?:stylesheet|preconnect|preload|icon))[^>]*\shref=["']?(?:https?:)?//[^>]*>"""
    r"""|url\(\s*["']?(?:https?:)?//[^)]*\)|@import[^;]*//[^;]*;|unpkg\.com|cdn\.|jsdelivr"""
)


def on_files(files, config):
    """Add the pages outside the docs folder that are linked from it, and a sample report."""
    renamed = {"CHANGELOG.md": "changes.md", "SECURITY.md": "security.md"}
    for path in (*(ROOT / name for name in renamed), *sorted(ROOT.glob("bench/results/*.md"))):
        name = renamed.get(path.name, f"measurements/{path.name}")
        files.append(File.generated(config, name, content=path.read_text().replace("](docs/", "](")))
    files.append(File.generated(config, "sample_report.html", content=sample.report()))
    return files


def on_page_markdown(markdown, page, config, files):
    """Insert the generated parts of a page, and rewrite its links to measurements."""
    to_root = "../" * page.file.src_uri.count("/")
    markdown = markdown.replace("](../bench/results/", f"]({to_root}measurements/")
    markdown = markdown.replace("](../SECURITY.md)", f"]({to_root}security.md)")
    try:
        markdown = citations.cite(parts.expand(markdown), to_root)
    except KeyError as missing:
        raise PluginError(f"{page.file.src_uri}: unknown name {missing}") from missing
    return PROMPT.sub("```pycon\n", markdown)


def on_page_content(html, page, config, files):
    """Convert formulas to MathML, which browsers display without a script."""
    return FORMULA.sub(lambda match: formula(unescape(match[3]).strip(), match[2] == "["), html)


def formula(latex, display):
    """Return a formula as MathML, in a scrollable box if `display`, otherwise inline."""
    mathml = convert(latex, display="block" if display else "inline")
    mathml = mathml.replace("<mi>log</mi>", f"{THIN_SPACE}<mi>log</mi>{THIN_SPACE}")
    return f'<div class="formula">{mathml}</div>' if display else mathml


def on_post_build(config):
    """Raise PluginError if the site would fetch anything from the network."""
    for path in sorted(Path(config.site_dir).rglob("*")):
        if path.suffix == ".js":
            path.write_text(UNUSED.sub("", path.read_text()))
        if path.suffix in (".html", ".js", ".css") and (found := FETCHED.search(path.read_text())):
            raise PluginError(f"{path} would fetch {found[0][:200]}")

"""Pages are complete and self-contained, and escape hostile text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from tanbark.drawing.html_page import figure, page, table

HOSTILE = "<script>alert('x')</script> & \"q\""


class Reader(HTMLParser):
    """Collects the tags and the text of a page, and checks that elements are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_is_well_formed_and_loads_no_resources() -> None:
    text = page("A comparison", table(["a"], [["1"]]) + figure("<svg></svg>", "a caption"))
    read = Reader(text)
    assert read.open == []
    assert {"html", "head", "title", "h1", "table", "figure"} <= set(read.tags)
    assert not re.search(r"<(script|link|img|iframe)|url\(|@import|https?:", text)
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text


def test_hostile_text_is_escaped() -> None:
    read = Reader(page(HOSTILE, table([HOSTILE], [[HOSTILE]]) + figure("<svg></svg>", HOSTILE)))
    assert "script" not in read.tags
    assert read.text.count(HOSTILE) == 5


def test_columns_of_numbers_are_right_aligned() -> None:
    html = table(["name", "error", "note"], [["a", "0.12 ± 0.01", "3 of 9"], ["b", "", "failed"], ["c", "–", ".5"]])
    assert re.findall(r'<th class="number">([^<]*)', html) == ["error"]
    assert table(["n"], []).count("number") == 0

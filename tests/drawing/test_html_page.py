"""Pages are whole, need nothing from elsewhere, and show hostile text as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from tanbark.drawing.html_page import figure, page, table

HOSTILE = "<script>alert('x')</script> & \"q\""


class Reader(HTMLParser):
    """Which elements there are, whether all are closed, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_closes_what_it_opens_and_loads_nothing() -> None:
    whole = page("A comparison", table(["a"], [["1"]]) + figure("<svg></svg>", "what it shows"))
    read = Reader(whole)
    assert read.open == []
    assert {"html", "head", "title", "h1", "table", "figure"} <= set(read.tags)
    assert not re.search(r"<(script|link|img|iframe)|url\(|@import|https?:", whole)
    assert "prefers-color-scheme: dark" in whole
    assert 'name="viewport"' in whole


def test_hostile_text_is_shown_as_it_is() -> None:
    read = Reader(page(HOSTILE, table([HOSTILE], [[HOSTILE]]) + figure("<svg></svg>", HOSTILE)))
    assert "script" not in read.tags
    assert read.text.count(HOSTILE) == 5


def test_columns_of_numbers_stand_on_the_right() -> None:
    drawn = table(["name", "error", "note"], [["a", "0.12 ± 0.01", "3 of 9"], ["b", "", "failed"], ["c", "–", ".5"]])
    assert re.findall(r'<th class="number">([^<]*)', drawn) == ["error"]
    assert table(["n"], []).count("number") == 0

import re

from hypothesis import example, given
from hypothesis import strategies as st

from tanbark.export.variables import KEYWORDS, bif_label, bif_name, distinct_words, unescape, xml_text

# Any text, and texts that are likely to look like escaped ones.
texts = st.text() | st.text("_xX0041AFaf 日", max_size=12) | st.sampled_from(sorted(KEYWORDS))
PLAIN = re.compile("[A-Za-z][A-Za-z0-9_.-]*")


@given(texts)
@example("_x")
@example("_x0041 ")
@example("\ud800")
def test_unescape_restores_every_text(text):
    for word in (bif_name, bif_label, xml_text):
        assert unescape(word(text)) == text


@given(texts)
def test_an_escaped_name_is_a_bif_word_and_not_a_keyword(text):
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_.-]*", bif_name(text))
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_.-]*|[0-9]+", bif_label(text))
    assert bif_name(text) not in KEYWORDS


@given(st.from_regex(PLAIN, fullmatch=True) | st.sampled_from(["cell_x", "a-b", "x.1", "__x__", "_xyz_"]))
def test_a_plain_word_stays_as_it_is(text):
    looks_escaped = re.search("_x([0-9A-F]{8}|[0-9A-F]{4}|)_", text, re.IGNORECASE)
    if text not in KEYWORDS and not looks_escaped:
        assert bif_name(text) == text == xml_text(text)


@given(texts)
def test_escaped_xml_text_is_valid_and_has_no_white_space_to_strip(text):
    escaped = xml_text(text)
    assert escaped
    assert escaped.strip(" \t\r\n") == escaped
    assert all(c in "\t\n\r" or " " <= c < "\ud800" or "\ue000" <= c < "\ufffe" or c > "\uffff" for c in escaped)


@given(st.lists(texts | st.text("aAbB", max_size=3), unique=True))
@example(["a", "A", "_X0041_", "_x0041_", "_X0061_"])
def test_names_differ_even_for_case_insensitive_readers(names):
    words = distinct_words(names, bif_name, str.lower)
    assert len({word.lower() for word in words}) == len(names)
    assert [unescape(word) for word in words] == names

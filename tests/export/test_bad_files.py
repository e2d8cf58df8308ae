"""A file that describes no network is refused in one sentence that names it and the line."""

import io
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import export
from tanbark.export import NetworkFileError

BIF = """network n {
}
variable a {
  type discrete [ 2 ] { x, y };
}
variable b {
  type discrete [ 2 ] { u, v };
}
probability ( a ) {
  table 0.5, 0.5;
}
probability ( b | a ) {
  (x) 0.1, 0.9;
  (y) 0.2, 0.8;
}
"""
XML = """<?xml version="1.0"?>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>b</NAME><OUTCOME>u</OUTCOME><OUTCOME>v</OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>
<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN>
<TABLE>0.1 0.9 0.2 0.8</TABLE></DEFINITION>
</NETWORK></BIF>
"""
READ = {"bif": export.read_bif, "xmlbif": export.read_xmlbif}
WHOLE = {"bif": BIF, "xmlbif": XML}

CASES = [
    ("bif", "| a )", "| c )", "line 12: 'c' is no variable"),
    ("bif", "( a ) {\n  table 0.5, 0.5;", "( a | b ) {\n default 0.5, 0.5;", "' depends on itself by way of others"),
    ("bif", "(x) 0.1, 0.9;", "(x) 0.1;", "line 13: 'b' needs 2 probabilities here, found 1"),
    ("bif", "(x) 0.1, 0.9;", "(x) 0.1, 0.8;", "line 12: 'b' has probabilities that sum to 0.9 instead of 1"),
    ("bif", "(x) 0.1, 0.9;", "(x) -0.1, 1.1;", "line 12: 'b' has a probability that is negative"),
    ("bif", "(x) 0.1, 0.9;", "(x) nan, 0.9;", "line 13: expected a number, found 'nan'"),
    ("bif", "(x) 0.1, 0.9;", "(x) 1e999, 0.9;", "line 12: 'b' has a probability that is negative or no finite number"),
    ("bif", "(x) 0.1, 0.9;", "(x) 1_0, 0.9;", "line 13: expected a number, found '1_0'"),
    ("bif", "(x) 0.1, 0.9;", "(z) 0.1, 0.9;", "line 13: 'z' is no value of 'a'"),
    ("bif", "(x) 0.1, 0.9;", "(x, x) 0.1, 0.9;", "line 13: expected values of 1 parents, found 2"),
    ("bif", "(x) 0.1, 0.9;", "(y) 0.1, 0.9;", "line 14: 'b' has these probabilities twice"),
    ("bif", "(x) 0.1, 0.9;", "", "line 12: 'b' lacks probabilities for some values of its parents"),
    ("bif", "variable b", "variable a", "line 6: 'a' is declared twice"),
    ("bif", "{ x, y }", "{ x, x }", "line 3: 'a' has the value 'x' twice"),
    ("bif", "{ x, y }", "{ x, y, z }", "line 4: 'a' should have 2 values and lists 3"),
    ("bif", "type discrete [ 2 ] { x, y };", "", "line 3: 'a' has no values"),
    ("bif", "type discrete [ 2 ] { x", "type continuous [ 2 ] { x", "line 4: 'a' is of type 'continuous'"),
    ("bif", "probability ( a ) {\n  table 0.5, 0.5;\n}", "", "line 3: the probabilities of 'a' are not given"),
    ("bif", "( b | a )", "( b | a, a )", "line 12: 'b' has a parent twice"),
    ("bif", "( b | a )", "( a )", "line 12: the probabilities of 'a' are given twice"),
    ("bif", "( b | a )", "( )", "line 12: probabilities of no variable are given"),
    ("bif", "variable b {", "/* variable b {", "line 6: a comment is never closed"),
    ("bif", "network n", "netwerk n", "line 1: expected network, variable or probability, found 'netwerk'"),
    ("bif", BIF, "", "no variable is declared"),
    ("xmlbif", "<GIVEN>a", "<GIVEN>c", "line 6: 'c' is no variable"),
    ("xmlbif", "<FOR>a</FOR><TABLE>0.5 0.5", "<FOR>a</FOR><GIVEN>b</GIVEN><TABLE>1 0 0 1", "by way of others"),
    ("xmlbif", "0.1 0.9 0.2 0.8", "0.1 0.9", "line 6: 'b' needs 4 probabilities, found 2"),
    ("xmlbif", "0.1 0.9 0.2 0.8", "0.1 0.2 0.9 0.8", "line 6: 'b' has probabilities that sum to 1.7 instead of 1"),
    ("xmlbif", "0.1 0.9", "-0.1 1.1", "line 6: 'b' has a probability that is negative"),
    ("xmlbif", "0.1 0.9", "nan 0.9", "line 6: expected a number, found 'nan'"),
    ("xmlbif", "<NAME>b", "<NAME>a", "line 4: 'a' is declared twice"),
    ("xmlbif", "<OUTCOME>y", "<OUTCOME>x", "line 3: 'a' has the value 'x' twice"),
    ("xmlbif", "<NAME>b</NAME>", "", "line 4: a VARIABLE has 0 NAME instead of one"),
    ("xmlbif", '"nature"><NAME>b', '"utility"><NAME>b', "line 4: a variable is of type 'utility'"),
    ("xmlbif", "</NETWORK>", "", "line 8: this is no whole XML (mismatched tag)"),
    ("xmlbif", "<BIF", "<BEEF", "line 2: XMLBIF begins with <BIF>, this with <BEEF>"),
    ("xmlbif", "<NAME>n<", "<NAME>&n;<", "line 2: this is no whole XML (undefined entity)"),
    (
        "xmlbif",
        '<?xml version="1.0"?>',
        '<!DOCTYPE BIF [<!ENTITY n "n">]>',
        "line 1: the entity 'n' is none of XML's own",
    ),
    (
        "xmlbif",
        '<?xml version="1.0"?>',
        '<!DOCTYPE BIF [<!ENTITY n SYSTEM "file:///etc/passwd">]>',
        "line 1: the entity 'n' is none",
    ),
    ("xmlbif", XML, "", "line 1: this is no whole XML (no element found)"),
]


@pytest.mark.parametrize(("form", "old", "new", "sentence"), CASES)
def test_what_is_wrong_is_said_with_the_line(form, old, new, sentence, tmp_path):
    path = tmp_path / "network"
    assert old in WHOLE[form]
    path.write_text(WHOLE[form].replace(old, new, 1))
    with pytest.raises(NetworkFileError) as error:
        READ[form](path, class_name="b")
    said = str(error.value)
    assert said.startswith(f"{path}, line " if sentence != "no variable is declared" else f"{path}: ")
    assert sentence in said
    assert "\n" not in said


@pytest.mark.parametrize("form", READ)
def test_which_variable_is_the_class_must_be_said(form):
    with pytest.raises(NetworkFileError, match="no variable is marked as the class; give class_name=, one of 'a', 'b'"):
        READ[form](io.StringIO(WHOLE[form]))
    with pytest.raises(NetworkFileError, match="class_name is 'c', which is no variable; the variables are 'a', 'b'"):
        READ[form](io.StringIO(WHOLE[form]), class_name="c")
    assert READ[form](io.StringIO(WHOLE[form]), class_name="a").schema.class_name == "a"


@pytest.mark.parametrize("form", READ)
def test_a_file_cut_short_anywhere_is_refused(form):
    whole = WHOLE[form].rstrip()
    for end in range(len(whole)):
        with pytest.raises(NetworkFileError):
            READ[form](io.StringIO(whole[:end]), class_name="b")


@pytest.mark.parametrize("form", READ)
def test_a_file_that_is_not_there_is_named(form, tmp_path):
    with pytest.raises(FileNotFoundError, match="gone"):
        READ[form](tmp_path / "gone", class_name="b")


@pytest.mark.parametrize("form", READ)
@settings(max_examples=50)
@given(data=st.data())
def test_junk_is_refused_or_read_but_nothing_else(form, data):
    whole = WHOLE[form].encode()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(start + 20, len(whole))))
    junk = data.draw(
        st.binary(max_size=20) | st.sampled_from([b"{", b"}", b";", b'"', b"/*", b"<", b"&", b"\x00", b"("])
    )
    with suppress(NetworkFileError):
        READ[form](io.BytesIO(whole[:start] + junk + whole[end:]), class_name="b")


def test_a_table_that_would_be_huge_is_refused_at_once():
    many = ", ".join(f"v{i}" for i in range(100))
    text = "".join(f"variable a{u} {{ type discrete [ 100 ] {{ {many} }}; }}\n" for u in range(6))
    parents = ", ".join(f"a{u}" for u in range(1, 6))
    text += f"probability ( a0 | {parents} ) {{ default {', '.join(['0.01'] * 100)}; }}\n"
    begin = time.perf_counter()
    with pytest.raises(NetworkFileError, match="more than 4,194,304 probabilities"):
        export.read_bif(io.StringIO(text), class_name="a0")
    assert time.perf_counter() - begin < 1


@pytest.mark.parametrize("junk", ["/*", '"', "(", "property ", "{ ", "// \n", "variable a {\n", "a,"])
def test_reading_takes_time_in_proportion_to_the_length(junk):
    begin = time.perf_counter()
    with pytest.raises(NetworkFileError):
        export.read_bif(io.StringIO("network n { property " + junk * 50_000), class_name="a")
    with pytest.raises(NetworkFileError):
        export.read_bif(io.StringIO(junk * 50_000), class_name="a")
    assert time.perf_counter() - begin < 3


NUMBERS = "variable a { type discrete [ 2 ] { x, y }; }\nprobability ( a ) { table %s, 0.5; }"
LABELS = ", ".join(f"l{i}" for i in range(50_000))
VALUES = "<BIF><NETWORK><VARIABLE><NAME>%s</NAME></VARIABLE></NETWORK></BIF>"
BOMB = (
    '<!DOCTYPE BIF [<!ENTITY l0 "ha">'
    + "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    + "]><BIF>&l9;</BIF>"
)


@pytest.mark.parametrize(
    ("form", "text", "sentence"),
    [
        ("bif", NUMBERS % ("1" * 500_000 + "x"), "expected a number, found '1111"),
        ("bif", f"variable a {{ type discrete [ 50001 ] {{ {LABELS}, l7 }}; }}", "'a' has the value 'l7' twice"),
        ("bif", "variable a { type discrete [ 1000000000 ] { x, y }; }", "should have 1000000000 values and lists 2"),
        ("xmlbif", BOMB, "the entity 'l0' is none of XML's own"),
        ("xmlbif", '<!DOCTYPE BIF [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><BIF/>', "the entity 'p' is none"),
        ("xmlbif", '<!DOCTYPE BIF SYSTEM "file:///etc/passwd"><BIF/>', "no variable is declared"),
        ("xmlbif", "<BIF>" * 300_000, "this is no whole XML"),
        ("xmlbif", VALUES % ("x" * 10**6), "line 1: 'xxxx"),
    ],
    ids=["digits", "labels", "size", "entities", "parameter entity", "external", "depth", "name"],
)
def test_a_hostile_file_is_refused_at_once_in_a_short_line(form, text, sentence):
    begin = time.perf_counter()
    with pytest.raises(NetworkFileError) as error:
        READ[form](io.StringIO(text), class_name="a")
    assert sentence in str(error.value)
    assert len(str(error.value)) < 1000
    assert time.perf_counter() - begin < 5

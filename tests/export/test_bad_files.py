"""Invalid network files are refused with a message that names the file and the line."""

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
    ("bif", "| a )", "| c )", "line 12: unknown variable 'c'"),
    ("bif", "( a ) {\n  table 0.5, 0.5;", "( a | b ) {\n default 0.5, 0.5;", "the network has a cycle through '"),
    ("bif", "(x) 0.1, 0.9;", "(x) 0.1;", "line 13: 'b' needs 2 probabilities here, found 1"),
    ("bif", "(x) 0.1, 0.9;", "(x) 0.1, 0.8;", "line 12: 'b' has probabilities that sum to 0.9 instead of 1"),
    ("bif", "(x) 0.1, 0.9;", "(x) -0.1, 1.1;", "line 12: 'b' has a probability that is negative"),
    ("bif", "(x) 0.1, 0.9;", "(x) nan, 0.9;", "line 13: expected a number, found 'nan'"),
    ("bif", "(x) 0.1, 0.9;", "(x) 1e999, 0.9;", "line 12: 'b' has a probability that is negative or not finite"),
    ("bif", "(x) 0.1, 0.9;", "(x) 1_0, 0.9;", "line 13: expected a number, found '1_0'"),
    ("bif", "(x) 0.1, 0.9;", "(z) 0.1, 0.9;", "line 13: 'z' is not a value of 'a'"),
    ("bif", "(x) 0.1, 0.9;", "(x, x) 0.1, 0.9;", "line 13: expected 1 parent values, found 2"),
    ("bif", "(x) 0.1, 0.9;", "(y) 0.1, 0.9;", "line 14: these probabilities of 'b' are given twice"),
    ("bif", "(x) 0.1, 0.9;", "", "line 12: 'b' has no probabilities for some values of its parents"),
    ("bif", "variable b", "variable a", "line 6: 'a' is declared twice"),
    ("bif", "{ x, y }", "{ x, x }", "line 3: 'a' has the value 'x' twice"),
    ("bif", "{ x, y }", "{ x, y, z }", "line 4: 'a' declares 2 values but lists 3"),
    ("bif", "type discrete [ 2 ] { x, y };", "", "line 3: 'a' has no values"),
    ("bif", "type discrete [ 2 ] { x", "type continuous [ 2 ] { x", "line 4: 'a' has type 'continuous'"),
    ("bif", "probability ( a ) {\n  table 0.5, 0.5;\n}", "", "line 3: the probabilities of 'a' are missing"),
    ("bif", "( b | a )", "( b | a, a )", "line 12: 'b' has a repeated parent"),
    ("bif", "( b | a )", "( a )", "line 12: the probabilities of 'a' are given twice"),
    ("bif", "( b | a )", "( )", "line 12: a probability block names no variable"),
    ("bif", "variable b {", "/* variable b {", "line 6: unterminated comment"),
    ("bif", "network n", "netwerk n", "line 1: expected network, variable or probability, found 'netwerk'"),
    ("bif", BIF, "", "the file declares no variables"),
    ("xmlbif", "<GIVEN>a", "<GIVEN>c", "line 6: unknown variable 'c'"),
    ("xmlbif", "<FOR>a</FOR><TABLE>0.5 0.5", "<FOR>a</FOR><GIVEN>b</GIVEN><TABLE>1 0 0 1", "the network has a cycle"),
    ("xmlbif", "0.1 0.9 0.2 0.8", "0.1 0.9", "line 6: 'b' needs 4 probabilities, found 2"),
    ("xmlbif", "0.1 0.9 0.2 0.8", "0.1 0.2 0.9 0.8", "line 6: 'b' has probabilities that sum to 1.7 instead of 1"),
    ("xmlbif", "0.1 0.9", "-0.1 1.1", "line 6: 'b' has a probability that is negative"),
    ("xmlbif", "0.1 0.9", "nan 0.9", "line 6: expected a number, found 'nan'"),
    ("xmlbif", "<NAME>b", "<NAME>a", "line 4: 'a' is declared twice"),
    ("xmlbif", "<OUTCOME>y", "<OUTCOME>x", "line 3: 'a' has the value 'x' twice"),
    ("xmlbif", "<NAME>b</NAME>", "", "line 4: VARIABLE must have exactly one NAME, found 0"),
    ("xmlbif", '"nature"><NAME>b', '"utility"><NAME>b', "line 4: a variable has type 'utility'"),
    ("xmlbif", "</NETWORK>", "", "line 8: invalid XML (mismatched tag)"),
    ("xmlbif", "<BIF", "<BEEF", "line 2: the root element must be <BIF>, found <BEEF>"),
    ("xmlbif", "<NAME>n<", "<NAME>&n;<", "line 2: invalid XML (undefined entity)"),
    (
        "xmlbif",
        '<?xml version="1.0"?>',
        '<!DOCTYPE BIF [<!ENTITY n "n">]>',
        "line 1: entity 'n' is not supported",
    ),
    (
        "xmlbif",
        '<?xml version="1.0"?>',
        '<!DOCTYPE BIF [<!ENTITY n SYSTEM "file:///etc/passwd">]>',
        "line 1: entity 'n' is not supported",
    ),
    ("xmlbif", XML, "", "line 1: invalid XML (no element found)"),
]


@pytest.mark.parametrize(("form", "old", "new", "problem"), CASES)
def test_the_error_states_the_problem_and_the_line(form, old, new, problem, tmp_path):
    path = tmp_path / "network"
    assert old in WHOLE[form]
    path.write_text(WHOLE[form].replace(old, new, 1))
    with pytest.raises(NetworkFileError) as error:
        READ[form](path, class_name="b")
    message = str(error.value)
    assert message.startswith(f"{path}, line " if problem != "the file declares no variables" else f"{path}: ")
    assert problem in message
    assert "\n" not in message


@pytest.mark.parametrize("form", READ)
def test_the_class_variable_must_be_named(form):
    with pytest.raises(NetworkFileError, match="no variable is marked as the class; set class_name to one of 'a', 'b'"):
        READ[form](io.StringIO(WHOLE[form]))
    with pytest.raises(NetworkFileError, match="class_name 'c' is not a variable; the variables are 'a', 'b'"):
        READ[form](io.StringIO(WHOLE[form]), class_name="c")
    assert READ[form](io.StringIO(WHOLE[form]), class_name="a").schema.class_name == "a"


@pytest.mark.parametrize("form", READ)
def test_a_file_cut_short_anywhere_is_refused(form):
    whole = WHOLE[form].rstrip()
    for end in range(len(whole)):
        with pytest.raises(NetworkFileError):
            READ[form](io.StringIO(whole[:end]), class_name="b")


@pytest.mark.parametrize("form", READ)
def test_the_error_for_an_absent_file_names_it(form, tmp_path):
    with pytest.raises(FileNotFoundError, match="gone"):
        READ[form](tmp_path / "gone", class_name="b")


@pytest.mark.parametrize("form", READ)
@settings(max_examples=50)
@given(data=st.data())
def test_corrupted_files_are_read_or_raise_a_network_file_error(form, data):
    whole = WHOLE[form].encode()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(start + 20, len(whole))))
    junk = data.draw(
        st.binary(max_size=20) | st.sampled_from([b"{", b"}", b";", b'"', b"/*", b"<", b"&", b"\x00", b"("])
    )
    with suppress(NetworkFileError):
        READ[form](io.BytesIO(whole[:start] + junk + whole[end:]), class_name="b")


def test_a_huge_table_is_refused_quickly():
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
    ("form", "text", "problem"),
    [
        ("bif", NUMBERS % ("1" * 500_000 + "x"), "expected a number, found '1111"),
        ("bif", f"variable a {{ type discrete [ 50001 ] {{ {LABELS}, l7 }}; }}", "'a' has the value 'l7' twice"),
        ("bif", "variable a { type discrete [ 1000000000 ] { x, y }; }", "declares 1000000000 values but lists 2"),
        ("xmlbif", BOMB, "entity 'l0' is not supported"),
        (
            "xmlbif",
            '<!DOCTYPE BIF [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><BIF/>',
            "entity 'p' is not supported",
        ),
        ("xmlbif", '<!DOCTYPE BIF SYSTEM "file:///etc/passwd"><BIF/>', "the file declares no variables"),
        ("xmlbif", "<BIF>" * 300_000, "invalid XML"),
        ("xmlbif", VALUES % ("x" * 10**6), "line 1: 'xxxx"),
    ],
    ids=["digits", "labels", "size", "entities", "parameter entity", "external", "depth", "name"],
)
def test_a_hostile_file_is_refused_quickly_with_a_short_message(form, text, problem):
    begin = time.perf_counter()
    with pytest.raises(NetworkFileError) as error:
        READ[form](io.StringIO(text), class_name="a")
    assert problem in str(error.value)
    assert len(str(error.value)) < 1000
    assert time.perf_counter() - begin < 5

"""Files as other programs and people write them."""

import io

import numpy as np
import pytest

from tanbark import export

ALARM = """
// A network that a person wrote.
network "burglar alarm" {
  property "author = someone; else" ;
  property version 1.0 ;
}
/* The
   variables */
variable Burglary { // one per night
  type discrete[2] { True, False };
  property position = (73, 165) ;
}
variable  Earthquake  { type  discrete  [ 2 ]  { True  False } ; }
variable Alarm {
  type discrete [ 3 ] { loud, "very soft", <5dB/a };
}
variable Call { type discrete [ 2 ] { yes, no }; }
probability ( Burglary ) { table 0.01, 0.99; }
probability ( Earthquake ) {
  table .02 9.8e-1 ;
}
probability ( Alarm | Burglary, Earthquake ) {
  (True, True) 0.9, 0.05, 0.05;
  default 0.1, 0.2, 0.7;
  (False, True) 0.3, 0.3, 0.4; /* rounded */
  (True, False) 0.8, 0.1, 0.1;
}
probability ( Call Alarm ) {
  table 0.9 0.5 0.05
        0.1 0.5 0.95;
  property credal-set ;
}
"""

FOREST = """<?xml version="1.0" encoding="US-ASCII"?>
<!--
  Bayesian network in XMLBIF v0.3 (BayesNet Interchange Format)
-->
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
    <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
  <!ELEMENT NAME (#PCDATA)>
]>
<BIF VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3">
<NETWORK>
<NAME>forest &amp; fire</NAME>
<PROPERTY>detailed</PROPERTY>
<VARIABLE TYPE="nature">
  <NAME> storm </NAME>
  <OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME>
  <PROPERTY>position = (1, 2)</PROPERTY><PROPERTY/>
</VARIABLE>
<VARIABLE>
  <NAME>wood</NAME>
  <OUTCOME>&#39;dry&#39;</OUTCOME>
  <OUTCOME>\n    wet &lt; 5</OUTCOME>
</VARIABLE>
<DEFINITION>
  <FOR>fire</FOR>
  <GIVEN>storm</GIVEN>
  <GIVEN>wood</GIVEN>
  <TABLE>
    0.6 0.3 0.1 <!-- storm, dry -->
    0.1 0.2 0.7
    0.2 0.2 0.6
    .0 0 1
  </TABLE>
</DEFINITION>
<VARIABLE TYPE="nature">
  <NAME>fire</NAME><OUTCOME>big</OUTCOME><OUTCOME>small</OUTCOME><OUTCOME>none</OUTCOME>
</VARIABLE>
<DEFINITION><FOR>wood</FOR><TABLE>0.25 7.5e-1</TABLE></DEFINITION>
<DEFINITION><FOR>storm</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>
</NETWORK>
</BIF>
"""


def test_bif_as_people_write_it():
    network = export.read_bif(io.StringIO(ALARM), class_name="Alarm")
    assert network.parents == {
        "Burglary": (),
        "Earthquake": (),
        "Call": ("Alarm",),
        "Alarm": ("Burglary", "Earthquake"),
    }
    assert network.schema.classes == ("loud", "very soft", "<5dB/a")
    expected = [[[0.9, 0.05, 0.05], [0.8, 0.1, 0.1]], [[0.3, 0.3, 0.4], [0.1, 0.2, 0.7]]]
    np.testing.assert_allclose(network.table("Alarm"), expected)
    np.testing.assert_allclose(network.table("Call"), [[0.9, 0.1], [0.5, 0.5], [0.05, 0.95]])
    np.testing.assert_allclose(network.table("Earthquake"), [0.02, 0.98])


def test_xmlbif_as_programs_write_it():
    network = export.read_xmlbif(io.StringIO(FOREST), class_name="fire")
    assert network.names == ("storm", "wood", "fire")
    assert network.schema.columns[1].levels == ("'dry'", "wet < 5")
    expected = [[[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]], [[0.2, 0.2, 0.6], [0.0, 0.0, 1.0]]]
    np.testing.assert_allclose(network.table("fire"), expected)
    np.testing.assert_allclose(network.table("wood"), [0.25, 0.75])


def test_xmlbif_may_be_in_another_encoding(tmp_path):
    path = tmp_path / "forest.xml"
    path.write_bytes(FOREST.replace("US-ASCII", "ISO-8859-1").replace("storm", "orkan_ö").encode("latin-1"))
    assert export.read_xmlbif(path, class_name="fire").names[0] == "orkan_ö"


@pytest.mark.parametrize("place", ["start", "end"])
def test_rounded_probabilities_are_normalised(place):
    thirds = "0.33, 0.33, 0.33" if place == "start" else "0.333, 0.333, 0.333"
    text = ALARM.replace("0.3, 0.3, 0.4", thirds)
    network = export.read_bif(io.StringIO(text), class_name="Alarm")
    np.testing.assert_allclose(network.table("Alarm")[1, 0], [1 / 3] * 3, rtol=1e-15)


def test_names_and_labels_of_several_words_are_read_as_pgmpy_writes_them():
    text = """network unknown {
}
variable my dog {
    type discrete [ 2 ] { is in, is out };
}
variable light {
    type discrete [ 2 ] { on, off };
}
probability ( my dog ) {
    table 0.5, 0.5 ;
}
probability ( light | my dog ) {
    ( is in ) 0.9, 0.1;
    ( is out ) 0.2, 0.8;
}
"""
    network = export.read_bif(io.StringIO(text), class_name="light")
    assert network.schema.columns[0].levels == ("is in", "is out")
    np.testing.assert_allclose(network.table("light"), [[0.9, 0.1], [0.2, 0.8]])


def test_labels_that_another_program_changed_are_strings(networks):
    text = export.bif(networks["class with parents"])
    changed = text.replace("_x0033_8.5, _x0034_1.0", "EU_39, EU_41").replace("up_to_0.25, ", "up_to_0.25, more, ")
    changed = changed.replace("[ 4 ] { up_to", "[ 5 ] { up_to")
    changed = changed.replace("0.06528837841799545;", "0.06528837841799545, 0;")
    with pytest.raises(export.NetworkFileError, match="'depth' needs 5 probabilities here, found 4"):
        export.read_bif(io.StringIO(changed))
    only_names = text.replace("_x0033_8.5, _x0034_1.0", "EU_39, EU_41")
    assert export.read_bif(io.StringIO(only_names)).schema.columns[5].levels == ("EU_39", "EU_41")

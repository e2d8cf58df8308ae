"""Export networks and classifiers to BIF, XMLBIF, DOT, ONNX, SQL and scorecards; read BIF and XMLBIF."""

from tanbark.export.bif import bif, read_bif
from tanbark.export.dot import dot
from tanbark.export.onnx_export import needs_complete_rows, onnx
from tanbark.export.scorecard import scorecard
from tanbark.export.scorecard_points import Scorecard
from tanbark.export.sql_export import sql
from tanbark.export.variables import NetworkFileError
from tanbark.export.xmlbif import read_xmlbif, xmlbif

__all__ = [
    "NetworkFileError",
    "Scorecard",
    "bif",
    "dot",
    "needs_complete_rows",
    "onnx",
    "read_bif",
    "read_xmlbif",
    "scorecard",
    "sql",
    "xmlbif",
]

"""Export networks and classifiers to BIF, XMLBIF, DOT and ONNX; read BIF and XMLBIF."""

from tanbark.export.bif import bif, read_bif
from tanbark.export.dot import dot
from tanbark.export.onnx_export import needs_complete_rows, onnx
from tanbark.export.variables import NetworkFileError
from tanbark.export.xmlbif import read_xmlbif, xmlbif

__all__ = ["NetworkFileError", "bif", "dot", "needs_complete_rows", "onnx", "read_bif", "read_xmlbif", "xmlbif"]

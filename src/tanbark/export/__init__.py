"""Networks and classifiers for other programs: BIF, XMLBIF, DOT and ONNX."""

from tanbark.export.bif_files import bif, read_bif
from tanbark.export.dot_files import dot
from tanbark.export.errors import NetworkFileError
from tanbark.export.onnx_files import needs_complete_rows, onnx
from tanbark.export.xmlbif_files import read_xmlbif, xmlbif

__all__ = ["NetworkFileError", "bif", "dot", "needs_complete_rows", "onnx", "read_bif", "read_xmlbif", "xmlbif"]

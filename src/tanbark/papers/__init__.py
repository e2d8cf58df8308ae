"""Reproductions of the experiments of published papers, run by ``tanbark reproduce``."""

PAPERS = ("cerquides2003", "gabn2007", "roure2002", "sugahara2018")
"""The papers. Each is a module with a constant `EXPERIMENT`."""

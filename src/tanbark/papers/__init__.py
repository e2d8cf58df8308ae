"""The experiments of published papers, run again."""

PAPERS = ("cerquides2003", "gabn2007", "roure2002", "sugahara2018")
"""Each is a module, which has an `EXPERIMENT`."""

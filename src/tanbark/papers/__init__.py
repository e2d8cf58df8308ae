"""The experiments of published papers, run again."""

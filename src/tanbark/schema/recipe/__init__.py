"""Recipes: how the columns of a table are read, in particular numbers and dates in text."""

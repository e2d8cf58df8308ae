"""Schemas: the types of a table's columns, and encoding values as integer codes."""

from tanbark.schema.encode.columns import Category, Number
from tanbark.schema.encode.encoder import Encoder
from tanbark.schema.encode.schema import Schema
from tanbark.schema.recipe.recipe import InputColumn, Recipe
from tanbark.schema.survey.schema_survey import Survey

__all__ = ["Category", "Encoder", "InputColumn", "Number", "Recipe", "Schema", "Survey"]

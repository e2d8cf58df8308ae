"""What a table's columns are, and the way from raw values to codes."""

from tanbark.schema.columns import Category, Number
from tanbark.schema.encoder import Encoder
from tanbark.schema.schema import Schema
from tanbark.schema.survey import Survey

__all__ = ["Category", "Encoder", "Number", "Schema", "Survey"]

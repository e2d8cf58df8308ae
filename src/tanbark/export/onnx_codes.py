"""Columns as inputs of a graph, and the codes that their values become there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tanbark.export.onnx_graph import Graph
from tanbark.schema import Category, Number, Schema
from tanbark.schema.columns import Column

OUTPUTS = ("label", "probabilities")


def input_names(schema: Schema) -> list[str]:
    """Return the inputs' names: those of the columns, with ``_`` appended where that is empty or an output's."""
    names: list[str] = []
    for name in schema.names:
        while not name or name in OUTPUTS or (name in schema.names and name != schema.names[len(names)]):
            name += "_"
        names.append(name)
    return names


def check_labels(schema: Schema) -> None:
    """Raise where ONNX cannot hold a name or tell a label from others.

    It has no half characters (lone surrogates), the empty text stands for a missing value there, and whole numbers are
    doubles.
    """
    levels = [level for column in schema.columns if isinstance(column, Category) for level in column.levels]
    for text in (*schema.names, *levels, *schema.classes):
        if isinstance(text, str) and not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            raise ValueError(f"{text!r} has half a character, which ONNX cannot hold; rename it")
    for column in schema.columns:
        if isinstance(column, Number):
            continue
        if "" in column.levels:
            raise ValueError(
                f"column {column.name!r} has the empty text among its levels, which is a missing value in ONNX; rename "
                "that level"
            )
        numbers = [level for level in column.levels if not isinstance(level, str)]
        if len({float(number) for number in numbers}) < len(numbers):
            raise ValueError(
                f"column {column.name!r} has whole numbers so large that two are the same double, as which ONNX takes "
                "them; make them text"
            )


def is_text(column: Column) -> bool:
    """Return whether a column's values are strings; all others are doubles."""
    if isinstance(column, Number):
        return False
    kinds = {isinstance(level, str) for level in column.levels}
    if kinds == {True, False}:
        raise ValueError(f"column {column.name!r} has text and numbers among its levels, which ONNX cannot hold in one")
    return kinds == {True}


def inputs(schema: Schema) -> list[Any]:
    """Return a tensor of one column and any number of rows for each column."""
    from onnx import TensorProto, helper

    kinds = [TensorProto.STRING if is_text(column) else TensorProto.DOUBLE for column in schema.columns]
    return [helper.make_tensor_value_info(name, kind, ["rows", 1]) for name, kind in zip(input_names(schema), kinds)]


def codes(graph: Graph, schema: Schema, names: Sequence[str]) -> list[str]:
    """Add the codes of all columns, of shape (rows,); the code after a column's last is that of an open value."""
    return [_codes(graph, column, name, schema.unseen) for column, name in zip(schema.columns, names)]


def _codes(graph: Graph, column: Column, name: str, unseen: str) -> str:
    flat = graph.node("Reshape", name, graph.constant(np.array([-1])))
    absent = column.arity - 1 if column.missing else column.arity
    if isinstance(column, Number):
        code = _count(graph, graph.node("Greater", name, graph.constant(column.points[None])))
        return _unless_missing(graph, flat, code, absent)
    strange = len(column.levels) if column.other else column.arity + (unseen == "error")
    if is_text(column):
        code = _text_codes(graph, column, flat, absent, strange)
    else:
        code = _unless_missing(graph, flat, _number_codes(graph, column, name, strange), absent)
    if strange <= column.arity:
        return code
    return graph.checked(code, strange, f"column {column.name!r} holds what was not seen in training")


def _text_codes(graph: Graph, column: Category, flat: str, absent: int, strange: int) -> str:
    known = {"": absent} | {str(level): code for level, code in column.code.items()}
    return graph.node(
        "LabelEncoder", flat, keys_strings=[*known], values_int64s=[*known.values()], default_int64=strange
    )


def _number_codes(graph: Graph, column: Category, name: str, strange: int) -> str:
    """Add how far beyond `strange` each value's code lies, and that."""
    if not column.levels:
        return graph.constant(np.array(strange))
    levels = np.array([float(level) for level in column.levels])[None]
    same = graph.node("Cast", graph.node("Equal", name, graph.constant(levels)), to=_int64())
    shift = graph.node("Mul", same, graph.constant(np.arange(levels.size)[None] - strange))
    total = graph.node("ReduceSum", shift, graph.constant(np.array([1])), keepdims=0)
    return graph.node("Add", total, graph.constant(np.array(strange)))


def _count(graph: Graph, flags: str) -> str:
    return graph.node("ReduceSum", graph.node("Cast", flags, to=_int64()), graph.constant(np.array([1])), keepdims=0)


def _unless_missing(graph: Graph, numbers: str, code: str, absent: int) -> str:
    return graph.node("Where", graph.node("IsNaN", numbers), graph.constant(np.array(absent)), code)


def _int64() -> int:
    from onnx import TensorProto

    return int(TensorProto.INT64)

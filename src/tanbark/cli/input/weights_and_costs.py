"""Weights of rows and of classes, and costs of errors, as they are given on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tanbark.cli.terminal.console import CommandError
from tanbark.messages import first_values

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from tanbark.classifiers.base.counts_classifier import CountsClassifier

BALANCED = "balanced"


def row_weights(
    values: pa.Array | pa.ChunkedArray, name: str, decimal: str | None = None, before: int = 0
) -> NDArray[np.float64]:
    """Return the weights in a column; raise CommandError if one is missing, negative or not a number.

    Parameters
    ----------
    values : pyarrow.Array or pyarrow.ChunkedArray
    name : str
        The name of the column.
    decimal : str or None, default=None
        The decimal separator of text; None is a point.
    before : int, default=0
        The number of rows that precede these.
    """
    import numpy as np
    import pyarrow as pa

    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        # Missing values become NaN.
        weights = np.asarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    else:
        weights = np.array([_number(value, decimal) for value in values.to_pylist()], np.float64)
    wrong = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if len(wrong):
        at = int(wrong[0])
        value = values[at].as_py()
        found = "has no value" if value is None or value == "" else f"holds {value!r}"
        comma = isinstance(value, str) and "," in value
        raise CommandError(
            f"column {name!r} {found} in row {before + at + 1}; --weight needs a number of at least 0 in every row"
            + (", and --decimal , of tanbark fit if it has a decimal comma" if comma else "")
        )
    return weights


def _number(value: Any, decimal: str | None) -> float:
    """Return a value as a float, or NaN if it is not a number."""
    if value is None or isinstance(value, bool):
        return float("nan")
    try:
        return float(value.replace(",", ".") if decimal == "," and isinstance(value, str) else value)
    except (TypeError, ValueError):
        return float("nan")


def class_weight_setting(given: Sequence[str]) -> Any:
    """Return the parameter `class_weight` that the options --class-weight describe; labels are texts."""
    if BALANCED in [text.lower() for text in given]:
        if len(given) > 1:
            raise CommandError(f"--class-weight {BALANCED} sets the weights of all classes; leave the others out")
        return BALANCED
    weights = {}
    for text in given:
        label, separator, number = text.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = None
        if not separator or weight is None:
            raise CommandError(f"--class-weight must be {BALANCED}, or LABEL=WEIGHT (repeatable), got {text!r}")
        if label in weights:
            raise CommandError(f"--class-weight names {label!r} twice")
        weights[label] = weight
    return weights


def by_class(setting: Any, classes: Iterable[Any]) -> Any:
    """Return a setting in which the texts of labels are replaced by the labels; others stay as they are.

    >>> by_class({"1": 3.0, "x": 2.0}, [0, 1])
    {1: 3.0, 'x': 2.0}
    """
    if not isinstance(setting, Mapping):
        return setting
    labels = {str(label): label for label in classes}
    return {labels.get(name, name): value for name, value in setting.items()}


def costs_of(given: Sequence[str], classes: Sequence[Any]) -> dict[tuple[Any, Any], float]:
    """Return the costs that the options --cost describe, by true and predicted class.

    A label may contain ":" or "=", so each text is compared with all pairs of classes.

    >>> costs_of(["a:b:c=5"], ["a", "b:c"])
    {('a', 'b:c'): 5.0}
    """
    from tanbark.evaluate.decisions import cost_matrix

    costs: dict[tuple[Any, Any], float] = {}
    for text in given:
        pair, cost = _cost(text, classes)
        if pair in costs:
            raise CommandError(f"--cost gives the cost of predicting {pair[1]!r} for {pair[0]!r} twice")
        costs[pair] = cost
    try:
        cost_matrix(list(classes), costs)
    except ValueError as error:
        raise CommandError(f"--cost: {error}") from error
    return costs


def _cost(text: str, classes: Sequence[Any]) -> tuple[tuple[Any, Any], float]:
    """Return the true class, the predicted class and the cost that a text names."""
    names, separator, number = text.rpartition("=")
    try:
        cost = float(number)
    except ValueError:
        separator = ""
        cost = 0.0
    if not separator or ":" not in names:
        raise CommandError(f"--cost must have the form TRUE:PREDICTED=COST, such as ill:healthy=10, got {text!r}")
    splits = [(names[:at], names[at + 1 :]) for at, sign in enumerate(names) if sign == ":"]
    found = [(a, b) for split in splits for a in classes for b in classes if (str(a), str(b)) == split]
    if len(found) > 1:
        pairs = " or ".join(f"{true!r} and {predicted!r}" for true, predicted in found)
        raise CommandError(f"--cost {text} can mean the classes {pairs}; rename a class")
    if not found:
        known = {str(label) for label in classes}
        unknown = next((name for name in splits[0] if name not in known), names)
        raise CommandError(f"--cost names {unknown!r}, which is not a class; the classes are {first_values(classes)}")
    return found[0], cost


def cost_notes(model: CountsClassifier) -> list[str]:
    """Return a note if the probabilities of a model are not those that decisions of least expected cost need."""
    if model.class_weight is None:
        return []
    return [
        "the model was fitted with class weights, which change its probabilities, so that the expected costs are not "
        "those of the rows; for --cost, fit without them"
    ]


def costs_document(costs: Mapping[tuple[Any, Any], float]) -> list[dict[str, Any]]:
    """Return costs for --json."""
    return [{"true": true, "predicted": predicted, "cost": cost} for (true, predicted), cost in costs.items()]

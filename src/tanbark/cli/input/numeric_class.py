"""A class that is a number: refused if it has many values, unless it is cut into intervals."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tanbark.cli.terminal.console import CommandError
from tanbark.messages import counted, warn

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from tanbark.schema import Recipe

MAX_NUMERIC_CLASSES = 30
"""Whole numbers with more distinct values are measurements or counts rather than labels of classes."""


def numeric_class(values: pa.ChunkedArray, recipe: Recipe, target: str) -> NDArray[np.float64] | None:
    """Return the numbers of a class column, NaN if missing, or None if it does not hold numbers.

    Texts are numbers if all of them are, and none has leading zeros as codes have. Raise CommandError if there are many
    that are numbers with a decimal comma, which must be asked for.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from tanbark.schema.read.arrow_columns import is_text
    from tanbark.schema.recipe.number_text import has_leading_zeros, read_numbers
    from tanbark.schema.recipe.rows_of_files import class_decimal

    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return np.asarray(pc.cast(values, pa.float64(), safe=False).to_numpy(), np.float64)
    if not is_text(kind):
        return None
    encoded = pc.dictionary_encode(pc.cast(values, pa.string())).combine_chunks()
    texts = encoded.dictionary.to_pylist()
    numbers = read_numbers(texts, class_decimal(recipe))
    if not texts or np.isnan(numbers).any() or any(map(has_leading_zeros, texts)):
        if len(texts) > MAX_NUMERIC_CLASSES and not np.isnan(read_numbers(texts, ",")).any():
            raise CommandError(f"the class {target!r} holds numbers with a decimal comma; read them with --decimal ,")
        return None
    places = pc.fill_null(encoded.indices, len(texts)).to_numpy(zero_copy_only=False)
    of_rows: NDArray[np.float64] = np.append(numbers, np.nan)[places]
    return of_rows


def check_few_numbers(values: Iterable[Any], target: str) -> None:
    """Raise CommandError if the values of a class are numbers with fractions, or many whole numbers."""
    distinct = {value for value in values if isinstance(value, int | float) and value == value}
    if all(value == int(value) for value in distinct) and len(distinct) <= MAX_NUMERIC_CLASSES:
        return
    raise CommandError(
        f"the class {target!r} is a number with {counted(len(distinct), 'different value')}, not a label; cut it into "
        f"intervals with --bin-target 4, or use --categorical {shlex.quote(target)} if each value is a class"
    )


def class_cuts(numbers: NDArray[np.float64] | None, n_classes: int, target: str) -> tuple[float, ...]:
    """Return the quantiles that cut a numeric class into classes of about equal size.

    Raise CommandError if it cannot be cut, and warn if equal values leave fewer classes.
    """
    import numpy as np

    from tanbark.schema.encode.quantiles import quantile_cuts

    if numbers is None:
        raise CommandError(
            f"--bin-target needs a numeric class, but {target!r} holds text; if only some values are not numbers, name "
            "them with --missing"
        )
    known = numbers[~np.isnan(numbers)]
    if np.isinf(known).any():
        raise CommandError(f"the class {target!r} holds an infinite number; remove the row or correct it")
    cuts = quantile_cuts(known, None, n_classes)
    if not cuts:
        raise CommandError(f"--bin-target cannot cut the class {target!r}, because nearly all of its values are equal")
    if len(cuts) + 1 < n_classes:
        warn(f"the class {target!r} has so many equal values that --bin-target gives {len(cuts) + 1} classes")
    return tuple(cuts)

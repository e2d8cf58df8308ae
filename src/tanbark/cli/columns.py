"""Which columns of a table are learned from, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tanbark.cli.console import listed
from tanbark.cli.errors import CommandError

if TYPE_CHECKING:
    import pyarrow as pa

    from tanbark.schema import Encoder
    from tanbark.sources import Source

USUAL_TARGETS = ("class", "target", "label")


@dataclass(frozen=True)
class Columns:
    """Which column is the class, which are left out, and how the others are encoded.

    Columns of `categorical` are categories, beside those that the encoder takes for some by itself.
    """

    target: str
    ignore: Sequence[str]
    categorical: Sequence[str]
    encoder: Encoder

    @classmethod
    def of(
        cls,
        source: Source,
        target: str | None,
        ignore: Sequence[str],
        categorical: Sequence[str],
        bins: str,
        n_bins: int,
        max_levels: int,
    ) -> Columns:
        """Return what the options of a command say, which are checked."""
        from tanbark.schema import Encoder

        names = source.schema.names
        chosen = _target(names, target, source)
        _check(names, chosen, ignore, categorical, source)
        encoder = Encoder(bins=bins, n_bins=n_bins, max_levels=max_levels)
        encoder.check()
        return cls(chosen, ignore, categorical, encoder)

    def split(self, table: pa.Table) -> tuple[pa.Table, Any]:
        """Return the columns that are learned from, and the class."""
        import narwhals as nw

        X = table.drop_columns(list(dict.fromkeys([self.target, *self.ignore])))
        return X, nw.from_native(table.column(self.target), series_only=True).alias(self.target)

    def encoder_of(self, X: pa.Table) -> Encoder:
        """Return the encoder with the columns that are categories, by themselves and by name."""
        from tanbark.schema.table import read_table

        if not self.categorical:
            return self.encoder
        return self._listing([name for name, raw in zip(X.column_names, read_table(X).columns) if raw.few_whole])

    def encoder_under(self, categories: Sequence[str]) -> Encoder:
        """Return the encoder where it is known which columns are categories."""
        return self._listing(categories) if self.categorical else self.encoder

    def _listing(self, by_itself: Sequence[str]) -> Encoder:
        """Return an encoder that lists categories: a list replaces the library's own choice; here it adds to it."""
        from sklearn.base import clone

        listed = list(dict.fromkeys([*by_itself, *self.categorical]))
        encoder: Encoder = clone(self.encoder).set_params(categorical=listed)
        return encoder


def _target(names: list[str], target: str | None, source: Source) -> str:
    if target is None:
        usual = [name for wanted in USUAL_TARGETS for name in names if name.lower() == wanted]
        if usual:
            return str(usual[0])
        raise CommandError(f"say with --target which column is the class; {source.name} has {listed(names, 40)}")
    if target not in names:
        raise CommandError(f"{source.name} has no column {target!r}; it has {listed(names, 40)}")
    return target


def _check(names: list[str], target: str, ignore: Sequence[str], categorical: Sequence[str], source: Source) -> None:
    """Raise where a column is not there, or none is left."""
    for name in ignore:
        if name not in names:
            raise CommandError(f"--ignore names the column {name!r}, which {source.name} does not have")
        if name == target:
            raise CommandError(f"{name!r} is the class and cannot be ignored")
    left = [name for name in names if name != target and name not in ignore]
    if not left:
        raise CommandError(f"{source.name} has no column left to learn from beside the class {target!r}")
    for name in categorical:
        if name not in left:
            raise CommandError(f"--categorical names the column {name!r}, which is not among {listed(left)}")

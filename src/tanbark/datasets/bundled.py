"""Bundled datasets, which need no download, and their registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import partial

from tanbark.datasets.dataset import Dataset
from tanbark.datasets.generated import balance_scale, led7, lenses, monks, mux6, three_of_9, tic_tac_toe, waveform21
from tanbark.shared_docs import insert_shared_docs


class UnknownDatasetError(ValueError, KeyError):
    """Error for an unknown dataset name.

    It is also a `KeyError`, as expected of the mapping that `read_folder` returns.
    """

    @classmethod
    def of(cls, name: object, known: Iterable[str]) -> UnknownDatasetError:
        """Return the error for `name`, which suggests the closest known name or else lists all of them.

        Parameters
        ----------
        name : object
            The unknown name.
        known : iterable of str
            The known names.

        Returns
        -------
        UnknownDatasetError
        """
        names = sorted(known)
        near = get_close_matches(str(name), names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(names)}"
        return cls(f"unknown dataset {name!r}: {hint}")

    def __str__(self) -> str:
        return str(self.args[0])


def iris() -> Dataset:
    """Return the iris dataset: 150 rows, four lengths in centimetres; the class is the species.

    The values are those of Fisher's paper. The widespread UCI copy differs in rows 35 and 38.

    Returns
    -------
    Dataset

    References
    ----------
    R. A. Fisher (1936). The use of multiple measurements in taxonomic problems. Annals of Eugenics 7, 179-188.

    Examples
    --------
    >>> iris().feature_names
    ('sepal_length', 'sepal_width', 'petal_length', 'petal_width')
    """
    from sklearn.datasets import load_iris

    bunch = load_iris()
    names = ("sepal_length", "sepal_width", "petal_length", "petal_width")
    species = [str(bunch.target_names[code]) for code in bunch.target]
    source = "Fisher (1936), The use of multiple measurements in taxonomic problems, Annals of Eugenics 7, 179-188."
    return Dataset.from_columns("iris", dict(zip(names, bunch.data.T, strict=True)), species, source=source)


def wine() -> Dataset:
    """Return the wine dataset: 178 rows, 13 chemical measurements; the class is the cultivar 1, 2 or 3.

    Returns
    -------
    Dataset

    References
    ----------
    S. Aeberhard, D. Coomans and O. de Vel (1992). Comparison of classifiers in high dimensional settings.
    James Cook University, technical report 92-02.

    Examples
    --------
    >>> wine()
    <Dataset wine: 178 rows, 13 features, 3 classes>
    """
    from sklearn.datasets import load_wine

    bunch = load_wine()
    names = [name.replace("/", "_") for name in bunch.feature_names]
    source = (
        "Aeberhard, Coomans and de Vel (1992), Comparison of classifiers in high dimensional settings, report 92-02."
    )
    return Dataset.from_columns("wine", dict(zip(names, bunch.data.T, strict=True)), bunch.target + 1, source=source)


NAMES: Mapping[str, Callable[[], Dataset]] = {
    "balance_scale": balance_scale,
    "iris": iris,
    "led7": led7,
    "lenses": lenses,
    "monks_1": partial(monks, 1),
    "monks_2": partial(monks, 2),
    "monks_3": partial(monks, 3),
    "mux6": mux6,
    "three_of_9": three_of_9,
    "tic_tac_toe": tic_tac_toe,
    "waveform21": waveform21,
    "wine": wine,
}
"""The bundled datasets: a mapping from each name to the function that loads it."""


@insert_shared_docs
def load(name: str) -> Dataset:
    """Return a bundled dataset by name, with the default arguments of its function.

    Parameters
    ----------
    name : str
        A key of `NAMES`.

    Returns
    -------
    Dataset

    Raises
    ------
    UnknownDatasetError
        If there is no dataset of this name.

    Examples
    --------
    >>> load("lenses")
    <Dataset lenses: 24 rows, 4 features, 3 classes>
    """
    if name not in NAMES:
        raise UnknownDatasetError.of(name, NAMES)
    return NAMES[name]()

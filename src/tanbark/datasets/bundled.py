"""Measured datasets that come with scikit-learn."""

from __future__ import annotations

from tanbark.datasets.dataset import Dataset


def iris() -> Dataset:
    """Return Fisher's irises: 150 rows, four lengths in centimetres, class the species.

    The values are those of Fisher's paper; the widespread UCI copy differs in rows 35 and 38.

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
    return Dataset.from_columns("iris", dict(zip(names, bunch.data.T)), species, source=source)


def wine() -> Dataset:
    """Return the wines: 178 rows, 13 chemical measurements, class the cultivar 1, 2 or 3.

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
    return Dataset.from_columns("wine", dict(zip(names, bunch.data.T)), bunch.target + 1, source=source)

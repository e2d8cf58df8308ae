"""The datasets that need no file, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tanbark.datasets.bundled import iris, wine
from tanbark.datasets.dataset import Dataset
from tanbark.datasets.endgames import tic_tac_toe
from tanbark.datasets.enumerated import balance_scale, lenses, monks, mux6, three_of_9
from tanbark.datasets.errors import UnknownDatasetError
from tanbark.datasets.simulated import led7, waveform21

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


def load(name: str) -> Dataset:
    """Return the bundled dataset of this name, as its function gives it by default.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Examples
    --------
    >>> load("lenses")
    <Dataset lenses: 24 rows, 4 features, 3 classes>
    """
    if name not in NAMES:
        raise UnknownDatasetError.of(name, NAMES)
    return NAMES[name]()

"""Bundled tables, folders of CSV files, and OpenML.

>>> from tanbark import datasets
>>> X, y = datasets.tic_tac_toe()
>>> X.shape
(958, 9)
"""

from tanbark.datasets.bundled import iris, wine
from tanbark.datasets.catalogue import NAMES, load
from tanbark.datasets.dataset import Dataset
from tanbark.datasets.endgames import tic_tac_toe
from tanbark.datasets.enumerated import balance_scale, lenses, monks, mux6, three_of_9
from tanbark.datasets.errors import UnknownDatasetError
from tanbark.datasets.folder import Folder, read_folder
from tanbark.datasets.openml import fetch_openml
from tanbark.datasets.simulated import led7, waveform21

__all__ = [
    "NAMES",
    "Dataset",
    "Folder",
    "UnknownDatasetError",
    "balance_scale",
    "fetch_openml",
    "iris",
    "led7",
    "lenses",
    "load",
    "monks",
    "mux6",
    "read_folder",
    "three_of_9",
    "tic_tac_toe",
    "waveform21",
    "wine",
]

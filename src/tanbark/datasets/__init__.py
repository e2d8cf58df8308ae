"""Datasets: bundled tables, folders of CSV files, and OpenML.

>>> from tanbark import datasets
>>> X, y = datasets.tic_tac_toe()
>>> X.shape
(958, 9)
"""

from tanbark.datasets.bundled import NAMES, UnknownDatasetError, iris, load, wine
from tanbark.datasets.dataset import Dataset
from tanbark.datasets.folder import Folder, read_folder
from tanbark.datasets.generated import balance_scale, led7, lenses, monks, mux6, three_of_9, tic_tac_toe, waveform21
from tanbark.datasets.openml import fetch_openml

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

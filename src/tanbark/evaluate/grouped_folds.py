"""Stratified folds that keep the rows of a group, such as those of a patient, together."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.evaluate.folds import Places
from tanbark.schema.read.table_reader import as_array, read_column


def read_groups(groups: Any, rows: int) -> Places:
    """Return the group of each row by number, -1 if it is missing.

    Parameters
    ----------
    groups : array or series of shape (rows,)
        Labels, numbers or dates; rows with equal values are of one group.
    rows : int
        Number of rows of the table.

    Raises
    ------
    ValueError, TypeError
        If `groups` is not one value per row.
    """
    if isinstance(groups, str):
        raise TypeError(f"groups must be one value per row, such as X[{groups!r}], got the text {groups!r}")
    values = groups if hasattr(groups, "__len__") and not isinstance(groups, list | tuple) else as_array(groups)
    # Arrow arrays have a length, but no shape.
    shape: tuple[int, ...] = values.shape if hasattr(values, "shape") else (len(values),)
    if len(shape) != 1:
        raise ValueError(f"groups must be one value per row, of shape ({rows},), got the shape {tuple(shape)}")
    if shape[0] != rows:
        raise ValueError(f"X has {rows:,} rows, but groups has {shape[0]:,}")
    return read_column(values, "groups").index()


def stratified_group_folds(classes: Places, groups: Places, folds: int, seed: int | tuple[int, ...] = 0) -> Places:
    """Return the fold of each row, with every group in one fold and every class spread over the folds.

    With ``n_kc`` the number of rows of class c in fold k, and ``n_c`` that of all rows of the class, the folds should
    minimise the sum over k and c of ``(n_kc / n_c) ** 2``, in which all rows together count as one more class: the sum
    is least if every fold has the same share of each class. Groups are taken from large to small, with sizes that are
    multiplied by random factors from 1/2 to 1, so that other seeds give other folds. Each group goes to the fold where
    it adds least, which is an empty one as long as there is one. `StratifiedGroupKFold` of scikit-learn is similar.

    Parameters
    ----------
    classes, groups : array of shape (rows,)
        The class and the group of each row by number.
    folds : int
        At most the number of groups.
    seed : int or tuple of int, default=0

    Returns
    -------
    array of shape (rows,)

    Examples
    --------
    >>> import numpy as np
    >>> patients = np.array([0, 0, 0, 1, 1, 2, 3])
    >>> fold = stratified_group_folds(np.array([0, 1, 1, 0, 1, 0, 1]), patients, folds=2)
    >>> patients[fold == fold[0]].tolist(), patients[fold != fold[0]].tolist()
    ([0, 0, 0], [1, 1, 2, 3])
    """
    rng = np.random.default_rng(seed)
    distinct, group = np.unique(groups, return_inverse=True)
    n_groups, n_classes = len(distinct), int(classes.max(initial=0)) + 1
    rows = np.bincount(group * n_classes + classes, minlength=n_groups * n_classes).reshape(n_groups, n_classes)
    rows = np.column_stack([rows, rows.sum(axis=1)])
    shares = rows / np.maximum(rows.sum(axis=0), 1)
    sizes = np.square(shares).sum(axis=1) * rng.uniform(0.5, 1.0, n_groups)
    of_folds = np.zeros((folds, n_classes + 1))
    fold = np.empty(n_groups, np.int64)
    for g in np.argsort(-sizes, kind="stable"):
        # Adding shares s to a fold with shares t adds |s|^2 + 2 st to the sum.
        fold[g] = np.argmin(of_folds @ shares[g])
        of_folds[fold[g]] += shares[g]
    return fold[group]

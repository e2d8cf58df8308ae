"""Boosting by folds: each row is scored by tables that were learned without it."""

import numpy as np
import pytest

from evidence.plain_evidence import encoded, mixed_frame
from tanbark.counts import Rows
from tanbark.evidence.boosted_folds import (
    BoostingSettings,
    boost_folds,
    boosting_folds,
    default_settings,
    in_classes,
    in_columns,
)

SETTINGS = BoostingSettings(60, 3, 0.2, 1.0, 0.8, 10)


def silent(*_):
    pass


def learned(rows, seed=0, settings=SETTINGS, start=None, jobs=1):
    folds = boosting_folds(rows, rows.keys(seed))
    start = np.zeros((len(rows.classes), len(rows.schema.classes))) if start is None else start
    return folds, boost_folds(rows, start, folds, settings, seed, jobs, silent)


@pytest.mark.parametrize("classes", [2, 3])
def test_held_out_scores_are_those_of_the_tables_without_the_row(classes):
    rows = encoded(*mixed_frame(150, 1, classes), "state").distinct
    start = np.random.default_rng(2).normal(size=(len(rows.classes), classes))
    folds, found = learned(rows, start=start)
    assert len(folds) == len(found.tables) == 5
    assert any(len(tables.attributes) for tables in found.tables)
    for f, tables in enumerate(found.tables):
        mine = np.flatnonzero(folds[f])
        sums = in_columns(start[mine])
        tables.add_to(sums, np.ascontiguousarray(rows.codes[:, mine]), 1)
        expected = in_classes(sums, classes)
        np.testing.assert_allclose(
            np.diff(found.held_out_scores[mine], axis=1), np.diff(expected, axis=1), rtol=1e-9, atol=1e-12
        )


def test_tables_of_a_fold_do_not_depend_on_its_classes():
    """Early stopping looks at the held-out rows, so all tables are kept."""
    rows = encoded(*mixed_frame(120, 3), "state").distinct
    settings = BoostingSettings(5, 3, 0.01, 1.0, 0.8, 100)
    folds, found = learned(rows, settings=settings)
    mine = folds[0] > 0
    assert len(found.tables[0].attributes) == 5
    rest = np.flatnonzero(~mine)
    alone = Rows(rows.schema, np.ascontiguousarray(rows.codes[:, rest]), rows.classes[rest], rows.each[rest])
    start = np.zeros((len(rest), 3))
    # Without folds, the same rows with the same random numbers give the same tables.
    once = boost_folds(alone, start, None, settings, 0, 1, silent)
    assert np.array_equal(once.tables[0].attributes, found.tables[0].attributes)
    np.testing.assert_allclose(once.tables[0].scores, found.tables[0].scores, rtol=1e-9, atol=1e-12)
    assert once.held_out_scores is None


def test_folds_divide_each_class_evenly():
    rows = encoded(*mixed_frame(203, 4), "state").distinct
    folds = boosting_folds(rows, rows.keys(1))
    np.testing.assert_allclose(folds.sum(axis=0), rows.each)
    for k in range(3):
        units = folds[:, rows.classes == k].sum(axis=1)
        assert np.ptp(units) <= 1


def test_few_rows_have_fewer_folds():
    frame, y = mixed_frame(3, 5)
    rows = encoded(frame, y, "state").distinct
    folds, found = learned(rows)
    assert len(folds) == len(found.tables) == 3
    assert np.isfinite(found.held_out_scores).all()


def test_threads_change_no_bit():
    rows = encoded(*mixed_frame(400, 6), "state").distinct
    one, two = learned(rows, jobs=1)[1], learned(rows, jobs=2)[1]
    assert np.array_equal(one.held_out_scores, two.held_out_scores)


def test_small_tables_shrink_more_and_stop_earlier():
    small, large = default_settings(999.0), default_settings(1000.0)
    assert (small.ess, small.n_estimators) == (3.0, 500)
    assert (large.ess, large.n_estimators) == (1.0, 2000)
    assert default_settings(10.0, n_estimators=7, ess=2.0).n_estimators == 7

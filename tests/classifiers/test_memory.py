"""What would need an absurd amount of memory is refused beforehand, with the numbers."""

import tracemalloc

import numpy as np
import pytest

import tanbark
from tanbark import Category, Counts, Schema, memory
from tanbark.classifiers import REGISTRY

PAIRS = [name for name, entry in REGISTRY.items() if entry.classifier.count_order == 2]


def wide(columns, levels, classes):
    return Schema([Category(f"x{u}", tuple(range(levels))) for u in range(columns)], tuple(range(classes)))


@pytest.fixture
def little():
    """Fail where more than some megabytes were asked for."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * 2**20


@pytest.fixture
def small_machine(monkeypatch):
    """A machine on which 100 MiB may be used."""
    monkeypatch.setattr(memory, "usable_memory", lambda: 100.0 * 2**20)


# 8 bytes for each of 300 classes and (50 * 255) ** 2 pairs of values.
GIBIBYTES = "363"


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("name", PAIRS)
def test_a_table_of_too_many_values_is_refused_by_every_classifier_of_pairs(name):
    schema = wide(50, 255, 300)
    X, y = np.arange(300)[:, None] * np.ones(50) % 255, np.arange(300)
    model = REGISTRY[name].classifier(encoder=schema)
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match=rf"for 300 classes needs {GIBIBYTES} GiB; lower max_levels, drop columns"):
        model.fit(X, y)
    assert model.__dict__ == before


@pytest.mark.usefixtures("little")
def test_counts_are_refused_wherever_they_come_from():
    import pyarrow as pa

    schema = wide(50, 255, 300)
    codes = np.zeros((50, 5), np.uint8)
    table = pa.table({f"x{u}": [0, 1] for u in range(50)} | {"class": [0, 1]})
    for count in (
        lambda: Counts.zero(schema),
        lambda: Counts.of(schema, codes, np.zeros(5, int)),
        lambda: Counts.from_batches(table, target="class", schema=schema),
        lambda: Counts.zero(wide(50, 1, 3)).under(schema),
    ):
        with pytest.raises(ValueError, match=rf"needs {GIBIBYTES} GiB"):
            count()


@pytest.mark.usefixtures("small_machine", "little")
@pytest.mark.parametrize("name", PAIRS)
def test_counts_that_do_not_fit_what_is_free_are_refused_by_every_classifier_of_pairs(name):
    # Three times 8 bytes for each of 2 classes and 1500 ** 2 pairs of values.
    schema = wide(30, 50, 2)
    X, y = np.arange(60)[:, None] * np.ones(30) % 50, np.arange(60) % 2
    said = r"needs 103\.0 MiB, but 100\.0 MiB may be used \(80% of the free memory\); lower max_levels"
    with pytest.raises(ValueError, match=said):
        REGISTRY[name].classifier(encoder=schema).fit(X, y)


@pytest.mark.usefixtures("small_machine", "little")
def test_evidence_is_learned_where_counts_of_pairs_do_not_fit():
    schema = wide(30, 50, 2)
    X, y = np.arange(60)[:, None] * np.ones(30) % 50, np.arange(60) % 2
    model = tanbark.EvidenceBN(encoder=schema).fit(X, y)
    assert model.counts_.order == 1
    assert model.score(X, y) == 1.0


@pytest.mark.usefixtures("small_machine", "little")
def test_levels_and_classes_that_come_later_are_refused_and_change_nothing():
    more = (np.arange(60)[:, None] % 50 * np.ones(30)).astype(str).astype(object)
    model = tanbark.TAN().partial_fit((more.astype(float) % 3).astype(str).astype(object), np.arange(60) % 2)
    counts = model.counts_
    with pytest.raises(ValueError, match=r"may be used \(80% of the free memory\)"):
        model.partial_fit(more, np.arange(60) % 3)
    assert model.counts_ is counts


@pytest.mark.usefixtures("small_machine", "little")
def test_counts_of_two_schemas_that_are_small_apart_are_refused_together():
    one = Schema([Category(f"x{u}", tuple(range(25))) for u in range(30)], (0, 1))
    other = Schema([Category(f"x{u}", tuple(range(25, 50))) for u in range(30)], (2, 3))
    with pytest.raises(ValueError, match=r"for 4 classes needs 206\.0 MiB"):
        Counts.zero(one) + Counts.zero(other)


@pytest.mark.usefixtures("small_machine")
def test_a_family_whose_table_does_not_fit_is_refused_before_it_is_made():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, (20_000, 3))
    # Under two attributes of 900 configurations, 150 classes and 30 values of its own: 4 times 8 bytes of each.
    said = r"the table of 'x\d' with 3 parents \(4,050,000 cells\) needs 123\.6 MiB, but 100\.0 MiB may be used "
    with pytest.raises(ValueError, match=said):
        tanbark.KDB(k=2, encoder=wide(3, 30, 150)).fit(X, rng.integers(0, 150, 20_000))

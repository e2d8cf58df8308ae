"""The structure of an additive model."""

import numpy as np
import pytest

from tanbark import EvidenceBN
from tanbark.models import EvidenceModel, StoredModel


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    classifier = EvidenceBN(structure=[("x1", "x0"), ("x0", "x2"), ("x1", "x2")])
    return classifier.fit(rng.integers(0, 3, (60, 3)), rng.integers(0, 2, 60)).model_


def test_the_class_is_above_all_attributes(model):
    assert model.structure.parents == ((1, 3), (3,), (0, 1, 3), ())


def test_a_file_whose_edges_form_a_cycle_is_refused(model):
    stored = model.to_arrays()
    assert EvidenceModel.from_arrays(model.counts, stored).structure == model.structure
    cyclic = StoredModel(stored.state | {"evidence_parents": [[1], [0], [0, 1]]}, stored.arrays)
    with pytest.raises(ValueError, match="the edges form a cycle"):
        EvidenceModel.from_arrays(model.counts, cyclic)

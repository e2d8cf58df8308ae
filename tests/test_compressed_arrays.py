"""Compressed arrays come back bit by bit."""

import numpy as np
import pytest

from tanbark.compressed_arrays import MAX_PLAIN_BYTES, compress_arrays, decompress_arrays

LARGE = np.zeros(MAX_PLAIN_BYTES // 8)


@pytest.mark.parametrize(
    "array",
    [
        np.tile([0.1, -0.0, np.nan, np.inf, -np.inf, 5e-324], 2000).reshape(3, 20, 200),
        np.arange(-3000, 3000).reshape(2, -1) // 500,
        np.zeros((40, 50), np.float32),
        np.ones(3000, np.bool_),
        np.arange(5000, dtype=np.uint16) // 1000,
        np.arange(9000, dtype=np.uint32).reshape(9, -1) * 70_000 // 7_000_000,
        np.empty((0, 3)),
        np.array(2.5),
        np.asfortranarray(np.arange(6000).reshape(60, 100) % 7),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_arrays_come_back_with_every_bit_their_type_and_their_shape(array):
    stored, compressed = compress_arrays({"it": array, "large": LARGE, "one": np.ones(1)})
    again = decompress_arrays(stored, compressed)["it"]
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert again.tobytes() == array.tobytes()
    assert ("it" in compressed) == (array.size > 10)
    assert sum(part.nbytes for part in stored.values()) < 0.2 * (array.nbytes + LARGE.nbytes)


def test_small_models_and_arrays_without_repetition_are_stored_as_they_are():
    rng = np.random.default_rng(0)
    small = {"half": LARGE[: LARGE.size // 2], "other half": LARGE[LARGE.size // 2 :]}
    assert compress_arrays(small) == (small, {})
    stored, compressed = compress_arrays({"random": rng.integers(0, 2**63, 5000), "large": LARGE})
    assert list(compressed) == ["large"]
    assert stored["random"].dtype == np.int64

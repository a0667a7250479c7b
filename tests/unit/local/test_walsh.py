"""The Walsh-Hadamard transform against the matrix."""

import numpy as np
import pytest
from scipy.linalg import hadamard

from ogive.errors import ParameterError
from ogive.local.aggregation import transform


@pytest.mark.parametrize("exponent", range(12))
def test_the_transform_is_the_product_with_the_matrix(exponent):
    values = np.random.default_rng(exponent).integers(-1000, 1000, 1 << exponent)
    expected = hadamard(1 << exponent, dtype=np.int64) @ values
    found = transform(values)
    assert found is values
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("exponent", [12, 13, 14, 15, 17, 20])
def test_blocks_join_at_large_sizes(exponent):
    size = 1 << exponent
    generator = np.random.default_rng(exponent)
    places, nodes = generator.integers(0, size, 50), generator.integers(0, size, 50)
    values = np.zeros(size, dtype=np.int64)
    np.add.at(values, places, 7)
    signs = 1 - 2 * (np.bitwise_count(places[:, None] & nodes[None, :]).astype(np.int64) & 1)
    once = transform(values.copy())
    np.testing.assert_array_equal(once[nodes], 7 * signs.sum(axis=0))
    np.testing.assert_array_equal(transform(once), size * values)


@pytest.mark.parametrize(
    "values", [np.zeros(3, np.int64), np.zeros(0, np.int64), np.zeros(4), np.zeros((2, 2), np.int64)], ids=str
)
def test_refuses_what_it_cannot_transform(values):
    with pytest.raises(ParameterError, match="power of two"):
        transform(values)

"""Lists of numbers become the arrays that Arrow makes of them, though they are read without it."""

import math

import numpy as np
import pyarrow as pa
import pytest

from ogive.records import sources

LISTS = [
    [1.5, -0.0, math.nan, math.inf, -math.inf],
    [0, 2**53 + 1, -(2**63), 2**63 - 1],
    (1, 2),
    (0.1,),
    [True, False],
    [1, 2.5],
    [1, None],
    [None, 2.0],
    [np.float64(1.5)],
    [],
]


@pytest.mark.parametrize("values", LISTS, ids=repr)
def test_a_list_is_read_as_arrow_reads_it(values):
    expected, found = pa.array(values), sources.arrow_array(values, "x")
    assert (found.type, found.null_count) == (expected.type, expected.null_count)
    assert repr(found.to_pylist()) == repr(expected.to_pylist())


def test_whole_numbers_above_64_bits_are_read_as_the_nearest_floats():
    assert sources.arrow_array([2**63, 1], "x").to_pylist() == [2.0**63, 1.0]

"""Functions are compiled where machine code can be kept, and where it cannot."""

import numba
import numpy as np
import pytest
from numba.core.caching import FunctionCache

from ogive.compiling import njit, vectorize


def plus(x, y):
    return x + y


@pytest.fixture(params=["a folder", "none", "one with a name that cannot be encoded"])
def place(request, monkeypatch):
    """Where numba may keep code: it asks each of its locators for a folder."""
    if request.param == "none":
        monkeypatch.setattr(FunctionCache._impl_class, "_locator_classes", [])
    if request.param.startswith("one"):
        monkeypatch.setattr("numba.core.caching.inspect.getfile", lambda function: "/tmp/\udcc3/place.py")
        monkeypatch.setattr("numba.core.caching.os.path.exists", lambda path: True)
    return request.param


def test_a_function_is_compiled(place):
    if place != "a folder":
        with pytest.raises((RuntimeError, UnicodeEncodeError)):
            numba.njit(cache=True)(plus)
    compiled = njit(nogil=True)(plus)
    assert compiled(1, 2) == 3
    assert compiled.signatures
    assert compiled.targetoptions["nogil"]


def test_a_function_of_arrays_is_compiled(place):
    assert vectorize(plus)(np.arange(3), 1).tolist() == [1, 2, 3]

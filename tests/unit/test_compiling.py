"""Functions are compiled where machine code can be kept, and where it cannot."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import FunctionCache

import ogive
from ogive import compiling
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
    loop = njit(nogil=True)(plus)
    assert loop(1, 2) == 3
    assert loop.compiled.signatures
    assert loop.compiled.targetoptions["nogil"]


def test_a_function_of_arrays_is_compiled(place):
    assert vectorize(plus)(np.arange(3), 1).tolist() == [1, 2, 3]


COMPILED = """
import logging, sys, warnings
warnings.simplefilter("error")
from ogive import compiling
from ogive.strategies.tree.passes import block_counts
import numpy as np
one = np.ones(1, np.int64)
compiling.PLAIN_STEPS = {steps}
for _ in range(3):
    block_counts(one, one, one)
    block_counts(one[:0].copy(), one, 0 * one)
block_counts(one.astype(np.int32), one, one)
print("numba" in sys.modules, compiling._Process.announced)
"""


def test_a_process_says_once_that_it_compiles_and_nothing_when_it_loads(tmp_path):
    """Also under `-W error`, since the line is logged and is no warning."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(ogive.__file__).parents[1])}

    def run(steps):
        return subprocess.run(
            [sys.executable, "-c", COMPILED.format(steps=steps)],
            capture_output=True, text=True, check=True, timeout=120, env=environment,
        )  # fmt: skip

    plain, first, second = run(compiling.PLAIN_STEPS), run(0), run(0)
    assert (plain.stdout.split(), plain.stderr) == (["False", "False"], "")
    assert (first.stdout.split(), first.stderr) == (["True", "True"], f"{compiling.MESSAGE}\n")
    assert (second.stdout.split(), second.stderr) == (["True", "False"], "")


def test_what_others_compile_is_not_announced(caplog, monkeypatch):
    monkeypatch.setattr(compiling._Process, "announced", False)
    njit()(plus).compiled(1, 2)
    assert caplog.messages == []

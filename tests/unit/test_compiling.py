"""Functions are compiled where machine code can be kept, and where it cannot."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.waiting import PATIENCE

import ogive
from ogive.core import compiling
from ogive.core.compiling import njit, vectorize


def plus(x, y):
    return x + y


@pytest.fixture(params=["a folder", "none", "no file"])
def place(request, monkeypatch):
    """Where code may be kept."""
    if request.param == "none":
        monkeypatch.setattr("ogive.core.machine_code.folders_of", lambda source: ([], None))
    if request.param == "no file":
        code = plus.__code__
        monkeypatch.setattr(plus, "__code__", code.replace(co_filename="/nowhere/\udcc3/place.py"))


@pytest.mark.usefixtures("place")
def test_a_function_is_compiled():
    loop = njit(nogil=True)(plus)
    assert loop(1, 2) == 3
    assert loop.compiled.signatures
    assert loop.compiled.targetoptions["nogil"]


@pytest.mark.usefixtures("place")
def test_a_function_of_arrays_is_compiled():
    assert vectorize(plus).compiled(np.arange(3), 1).tolist() == [1, 2, 3]


ALONE = """
import sys
class Device:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "numba":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Device())
import numpy as np
from ogive.core import compiling
from ogive.crypto.field import products
from ogive.strategies.tree import block_counts
compiling.PLAIN_STEPS = 0
one = np.ones(1, np.int64)
block_counts(one, one, one)
print(products(np.full(9, 1 << 60, np.uint64), np.uint64(4)).tolist() == [2] * 9)
"""


def test_loops_with_steps_always_run_where_numba_is_not_installed():
    done = subprocess.run([sys.executable, "-W", "error", "-c", ALONE], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")


COMPILED = """
import logging, sys, warnings
warnings.simplefilter("error")
from ogive.core import compiling
from ogive.strategies.tree import block_counts
import numpy as np
one = np.ones(1, np.int64)
compiling.PLAIN_STEPS = {steps}
for _ in range(3):
    block_counts(one, one, one)
    block_counts(one[:0].copy(), one, 0 * one)
block_counts(one.astype(np.int32), one, one)
print("numba" in sys.modules, compiling._Process.announced)
"""


@pytest.mark.everything
def test_a_process_says_once_that_it_compiles_and_nothing_when_it_loads(tmp_path):
    """Also under `-W error`, since the line is logged and is no warning."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(ogive.__file__).parents[1])}

    def run(steps):
        return subprocess.run(
            [sys.executable, "-c", COMPILED.format(steps=steps)],
            capture_output=True, text=True, check=True, timeout=PATIENCE, env=environment,
        )  # fmt: skip

    plain, first, second = run(compiling.PLAIN_STEPS), run(0), run(0)
    assert (plain.stdout.split(), plain.stderr) == (["False", "False"], "")
    assert (first.stdout.split(), first.stderr) == (["True", "True"], f"{compiling.MESSAGE}\n")
    assert (second.stdout.split(), second.stderr) == (["True", "False"], "")


SCRIPT = """
from ogive.core import compiling
from ogive.strategies.tree import block_counts
import numba, numpy as np
one = np.ones(1, np.int64)
compiling.PLAIN_STEPS = 0
if {first}:
    block_counts(one, one, one)

@numba.njit
def plus(x, y):
    return x + y

print(plus(1, 2))
"""


@pytest.mark.everything
@pytest.mark.parametrize("first", [False, True], ids=["alone", "after a loop of the package"])
def test_functions_of_a_script_are_compiled_and_not_announced(first, tmp_path):
    """A script has no package, whose name a listener once took for granted."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(ogive.__file__).parents[1])}
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(first=first))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment
    )
    assert (done.stdout, done.stderr) == ("3\n", f"{compiling.MESSAGE}\n" if first else "")

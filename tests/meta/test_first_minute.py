"""What the first call of a new process loads: a limited number of modules, and nothing slow that it does not need.

Loaded modules are counted and no time is taken, so that the test says the same on every machine. The bounds leave room
for about one module in ten more; raise them only for something that the call needs.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.waiting import PATIENCE

import ogive
from ogive.releasing.release import NO_LEDGER

SLOW = {
    "dp_accounting", "ibis", "llvmlite", "matplotlib", "nacl", "narwhals", "numba", "pandas", "piqp", "polars", "scipy",
    "sklearn", "sqlalchemy", "sqlite3", "threadpoolctl", "torch",
}  # fmt: skip

TELL = "\nimport json, sys\nprint('\\n' + json.dumps([*sys.modules]))"

ARRAY = """
import numpy as np
values = np.random.default_rng(1).integers(0, 120, 45_000)
import ogive
ogive.ecdf(values.astype({type!r}), bounds=(0, 120), grid="integers", privacy=ogive.{privacy})
"""
LIST = """
import random
values = [random.gauss(50, 10) for _ in range(1000)]
import ogive
ogive.ecdf(values, bounds=(0, 100), bins=100, privacy=ogive.PureDP({epsilon}))
"""
COMPILING = """
import numpy as np
from ogive.core import compiling
from ogive.strategies import shrinkage
compiling.PLAIN_STEPS = 0
shrinkage._outstanding(np.arange(64.0), 1.0, 2.0)
"""
COMMAND = "from ogive.cli import main\nassert main({arguments!r}) == 0"


def loaded(program, folder, cache):
    """Names of the modules at the end of a program in a new process, whose compiled code is kept in a folder."""
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(cache),
        "PYTHONPATH": os.pathsep.join([str(Path(ogive.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program + TELL],
        capture_output=True, text=True, check=True, timeout=PATIENCE, cwd=folder, env=environment,
    )  # fmt: skip
    assert done.stderr.replace(f"{NO_LEDGER}\n", "") == ""
    # a language with another encoding loads one codec more
    return [name for name in json.loads(done.stdout.splitlines()[-1]) if not name.startswith("encodings.")]


def command(name):
    return COMMAND.format(
        arguments=["ecdf", name, "--column", "age", "--bounds", "0", "120", "--epsilon", "1"],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of each kind."""
    place = tmp_path_factory.mktemp("files")
    ages = [number * 7 % 100 for number in range(45_000)]
    (place / "ages.csv").write_text("\n".join(["age", *map(str, ages)]), encoding="utf-8")
    pq.write_table(pa.table({"age": ages}), place / "ages.parquet")
    return place


PROGRAMS = {
    "an array": (ARRAY.format(type="float64", privacy="PureDP(1)"), 600, {"duckdb", "rich", "cyclopts"}),
    "an array of whole numbers": (ARRAY.format(type="int64", privacy="PureDP(1)"), 600, {"duckdb", "rich", "cyclopts"}),
    "a list": (LIST.format(epsilon=10), 600, {"duckdb", "rich", "cyclopts"}),
    "a CSV file": (command("ages.csv"), 700, set()),
    "a Parquet file": (command("ages.parquet"), 700, set()),
    "help": (COMMAND.format(arguments=["--help"]), 365, {"numpy", "pyarrow", "duckdb"}),
    "help on trust": (COMMAND.format(arguments=["pate", "label", "--help"]), 480, {"numpy", "pyarrow", "duckdb"}),
}


def test_a_density_loads_scipy_the_control_of_its_threads_and_nothing_else_that_is_slow(folder, tmp_path):
    # few records for their noise: factors of matrices, sparse matrices and the tail of the normal law
    modules = loaded(LIST.format(epsilon=1), folder, tmp_path)
    assert {module.partition(".")[0] for module in modules} & SLOW == {"scipy", "threadpoolctl"}
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_first_call_loads_little_and_compiles_nothing(name, folder, tmp_path):
    program, most, slow = PROGRAMS[name]
    modules = loaded(program, folder, tmp_path)
    assert {module.partition(".")[0] for module in modules} & (SLOW | slow) == set()
    assert len(modules) <= most
    assert [*tmp_path.iterdir()] == []


def test_a_slow_import_is_seen(folder, tmp_path):
    modules = loaded(f"import scipy.stats, numba\n{PROGRAMS['help'][0]}", folder, tmp_path)
    assert {"scipy", "numba", "llvmlite"} <= {module.partition(".")[0] for module in modules} & SLOW
    assert len(modules) > PROGRAMS["help"][1]


def test_what_is_compiled_is_seen(folder, tmp_path):
    with pytest.raises(AssertionError, match="compiling"):
        loaded(COMPILING, folder, tmp_path)
    assert [*tmp_path.iterdir()]

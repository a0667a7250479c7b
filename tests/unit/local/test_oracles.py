"""Oracles as plain data, which may be hostile, and what owners need to import."""

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import ParameterError
from ogive.local import (
    HaarOracle,
    Oracle,
    OwnerSource,
    PublicClasses,
    RandomizedResponse,
    TreeOracle,
    UnaryOracle,
    design_tree,
    oracle_from_dict,
)

ORACLES = [
    RandomizedResponse(5, "1/3"),
    UnaryOracle(9, 1.5),
    HaarOracle(100, 2, seed=7, weights="uniform"),
    TreeOracle(1 << 40, 1, seed=3, branching=5, assignment="independent"),
    TreeOracle(70, 1, split="budget", nodes="unary"),
    design_tree(1000, 1, "1e-6", split="budget", composition="exact", seed=2**63 - 1),
    PublicClasses(TreeOracle(1 << 16, 1), 2),
]
FIELDS = sorted({field for oracle in ORACLES for field in oracle.to_dict()})

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["krr", "tree", "users", "budget", "exact", "unary", "1/2", "1e9", "1e-12", "-1", "nan", ""])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: f"{oracle.name}-{oracle.size}")
def test_oracles_survive_json(oracle):
    assert isinstance(oracle, Oracle)
    again = oracle_from_dict(json.loads(json.dumps(oracle.to_dict())))
    assert again == oracle
    assert hash(again) == hash(oracle)
    assert again.loss == oracle.loss
    assert again.shape == oracle.shape


@settings(max_examples=size(400, part=130), deadline=None)
@given(st.sampled_from(ORACLES), st.lists(st.tuples(st.sampled_from(FIELDS), plain), min_size=1, max_size=3))
def test_any_changed_field_gives_an_oracle_or_one_clear_line(oracle, changes):
    data = oracle.to_dict()
    for field, value in changes:
        if isinstance(data.get("inner"), dict) and field in data["inner"]:
            data["inner"][field] = value
        else:
            data[field] = value
    check(data)


@settings(max_examples=size(200, part=100), deadline=None)
@given(plain)
def test_any_plain_data_gives_an_oracle_or_one_clear_line(data):
    check(data)


def check(data):
    try:
        oracle = oracle_from_dict(data)
    except ParameterError as error:
        line = str(error)
    else:
        line = ""
        assert oracle_from_dict(oracle.to_dict()) == oracle
        assert 0 < oracle.payload_bytes <= 1 << 14
        assert np.prod(oracle.shape) <= 1 << 26
    assert "\n" not in line
    assert len(line) < 400


def test_a_hostile_description_allocates_nothing():
    tracemalloc.start()
    for data in (
        {"name": "krr", "size": 1 << 60, "epsilon": "1"},
        {"name": "krr", "size": 1 << 24, "epsilon": "1"},
        {"name": "unary", "size": 1 << 40, "epsilon": "1"},
        {"name": "classes", "inner": TreeOracle(1 << 40, 1).to_dict(), "classes": 256},
        {"name": "haar", "size": 1 << 20, "epsilon": "1e999999999", "seed": 0, "weights": "uniform"},
        {"name": "krr", "size": 2, "epsilon": "1" * 5000},
        {**TreeOracle(1 << 40, 1).to_dict(), "split": "budget"},
    ):
        check(data)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_classes_within_classes_are_refused():
    inner = PublicClasses(RandomizedResponse(5, 1), 2)
    with pytest.raises(ParameterError, match="without classes"):
        PublicClasses(inner, 2)
    data = inner.to_dict()
    for _ in range(10_000):  # a description this deep must not exhaust the stack
        data = {"name": "classes", "inner": data, "classes": 2}
    with pytest.raises(ParameterError, match="an oracle must be one of"):
        oracle_from_dict(data)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: RandomizedResponse(1, 1),
            r"number of symbols \(.*\) must be a whole number from 2 to 16777216, got 1",
        ),
        (lambda: RandomizedResponse(True, 1), "number of symbols"),
        (lambda: UnaryOracle(4, 0), "epsilon must be at least 1e-9"),
        (lambda: UnaryOracle(4, float("nan")), "epsilon must be finite"),
        (lambda: RandomizedResponse(1 << 24, "1e-9").keep, None),
        (lambda: HaarOracle(4, 1, seed=-1), "seed must be a whole number from 0"),
        (lambda: HaarOracle(4, 1, weights="flat"), "weights must be geometric or uniform, got 'flat'"),
        (lambda: TreeOracle(4, 1, branching=9), "branching must be a whole number from 2 to 8"),
        (lambda: TreeOracle(4, 1, "1e-6"), "delta is for a budget"),
        (lambda: TreeOracle(4, 1, "1e-6", split="budget"), "delta is for a budget"),
        (lambda: TreeOracle(4, 1, "1e-6", split="budget", composition="exact"), "design_tree computes it"),
        (lambda: TreeOracle(4, 1, 0, split="budget", composition="exact"), "needs a delta above 0"),
        (lambda: TreeOracle(4, 1, level_epsilon=2), "level_epsilon must be 1 here"),
        (lambda: TreeOracle(4, 1, split="budget", level_epsilon=1), "level_epsilon must be 1/2 here"),
        (lambda: PublicClasses(RandomizedResponse(5, 1), 257), "classes must be a whole number from 1 to 256"),
        (lambda: oracle_from_dict({"name": "krr", "size": 4}), "has the fields size, epsilon, and no others"),
        (lambda: oracle_from_dict([]), "an oracle must be one of"),
    ],
)
def test_refuses_what_is_out_of_range(make, message):
    if message is None:
        assert make() > 0, "small, and still possible"
        return
    with pytest.raises(ParameterError, match=message):
        make()


OWNER = """
import json, sys
import numpy
ALLOWED = {"ogive", "numpy"}
class Block:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top in sys.stdlib_module_names or top == "numpy":
            return None
        if top == "ogive" and name in ALLOWED_OGIVE or name.startswith(("ogive.local", "ogive.columns.")):
            return None
        raise ImportError("an owner has no " + name)
ALLOWED_OGIVE = {"ogive", "ogive.core", "ogive.core.arrays", "ogive.core.checks",
                 "ogive.core.rooms", "ogive.columns", "ogive.columns.grids", "ogive.errors",
                 "ogive.privacy"}
sys.meta_path.insert(0, Block())
from ogive.local import OwnerSource, oracle_from_dict
total = 0
for data in json.load(sys.stdin):
    oracle = oracle_from_dict(data)
    payloads = oracle.randomize(numpy.arange(2) % oracle.size, numpy.arange(2), source=OwnerSource())
    assert payloads.shape == (2, oracle.payload_bytes)
    total += 1
assert "numba" not in sys.modules and "scipy" not in sys.modules
print(total)
EXTRA
"""


def owner(extra: str) -> subprocess.CompletedProcess[str]:
    data = json.dumps([oracle.to_dict() for oracle in ORACLES])
    return subprocess.run(
        [sys.executable, "-c", OWNER.replace("EXTRA", extra)], input=data, capture_output=True, text=True, check=False
    )


def test_owners_need_numpy_alone():
    done = owner("")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{len(ORACLES)}\n"


def test_the_block_would_see_an_import_of_more():
    done = owner("import ogive.local.aggregation")
    assert done.returncode == 1
    assert "an owner has no ogive.core.compiling" in done.stderr


def test_owners_words_differ():
    oracle = TreeOracle(1 << 20, 1)
    first, second = (oracle.randomize(np.zeros(50, int), np.arange(50), source=OwnerSource()) for _ in range(2))
    assert (first != second).any()

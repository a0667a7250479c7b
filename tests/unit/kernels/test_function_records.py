"""Functions of users on private records: whatever they raise or give, one record moves its own pairs only."""

import functools
import itertools
import math
import subprocess
import sys
import warnings

import numpy as np
import pytest
from helpers.forked import python
from helpers.scope import is_everything
from helpers.waiting import PATIENCE

import ogive
from ogive.columns import Binning, Categories, Domain
from ogive.errors import ParameterError
from ogive.kernels import FunctionKernel
from ogive.kernels.function import FunctionKernel as Kernel

COLUMN = Binning("x", ogive.Grid.integers(0, 9), outside="clip")
# more than 64 values, so that not all of them are tried, and 7.125 never
WIDE = Domain((Binning("x", ogive.Grid.linear(0, 10, bins=100)),))
PAIR = Domain((WIDE.columns[0], Categories("c", ("a", "b"))))
TARGET = 7.125


class Nothing(BaseException):
    """What no handler of exceptions expects."""


class Odd:
    def __float__(self):
        raise LookupError("no number")


def endless():
    return endless()


FAILURES = {
    "error": lambda: 1 / 0,
    "stop": lambda: next(iter(())),
    "recursion": endless,
    "memory": lambda: (_ for _ in ()).throw(MemoryError()),
    "exit": lambda: sys.exit(3),
    "base": lambda: (_ for _ in ()).throw(Nothing()),
    "generator": lambda: (_ for _ in ()).throw(GeneratorExit()),
    "assertion": lambda: (_ for _ in ()).throw(AssertionError()),
    "ogive": lambda: (_ for _ in ()).throw(ParameterError("mine")),
    "warning": lambda: warnings.warn("record", UserWarning, stacklevel=1) or 1.0,
    "text": lambda: "high",
    "none": lambda: None,
    "list": lambda: [1.0, 2.0],
    "object": Odd,
    "huge": lambda: 10**400,
    "complex": lambda: 1j,
    "nan": lambda: math.nan,
}


def failing(failure, target=TARGET):
    """Of numbers alone: fails on one value."""

    def function(x, y):
        if type(x) is not float:
            raise TypeError("numbers only")
        return failure() if target in (x, y) else abs(x - y) / 10

    return function


def failing_in_arrays(failure, target=TARGET):
    """Of arrays, elementwise, and failing as a whole on one value in them."""

    def function(x, y):
        return failure() if np.any(np.equal(x, target) | np.equal(y, target)) else np.exp(-((x - y) ** 2))

    return function


@pytest.fixture(autouse=True)
def strict():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ogive.NoiseWarning)
        yield


@pytest.mark.each_value
@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("make", [failing, failing_in_arrays])
def test_a_failure_counts_as_the_lower_bound_and_moves_no_other_pair(name, make):
    kernel = FunctionKernel(make(FAILURES[name]), "f", (-0.5, 1))
    assert kernel._takes_arrays(WIDE) == (make is failing_in_arrays)
    rows, whole, values = without_failures(make)
    pairs = np.triu_indices(len(rows), 1)
    places = (0, 95, 96, 97)  # the first and last records of both blocks
    if not is_everything():  # one of them, in turn for every two failures
        places = places[list(FAILURES).index(name) // 2 % 4 :][:1]
    for place in places:
        changed = rows.copy()
        changed[place] = TARGET
        # the pairs of the others have the very same values, and those of the failing record that of the lower bound, 0
        expected = sum(values[(pairs[0] != place) & (pairs[1] != place)].tolist())
        found = kernel.pair_sum(changed, WIDE, bits=30)
        assert abs(found - expected) <= (0 if make is failing else 1)
        assert abs(found - whole) <= kernel.scale(WIDE, 30).sensitivity(len(rows) - 1)


@functools.cache
def without_failures(make):
    """Records, their sum and the values of their pairs: they are the same whatever would happen at other records."""
    rows = np.random.default_rng(4).uniform(0, 10, (98, 1))  # blocks are of 96
    kernel = FunctionKernel(make(FAILURES["error"]), "f", (-0.5, 1))
    safe = FunctionKernel(make(FAILURES["error"], target=-1.0), "f", (-0.5, 1))
    return rows, kernel.pair_sum(rows, WIDE, bits=30), values_of(safe, rows)


def values_of(kernel, rows, bits=30):
    """Whole numbers of all pairs, by the sums over two records."""
    low, high = kernel.bounds
    values = kernel._of_records(rows[:, None], rows[None], arrays=kernel._takes_arrays(WIDE))
    upper = np.triu_indices(len(rows), 1)
    return np.rint((values[upper] - low) / (high - low) * 2**bits).astype(np.int64)


def test_other_pairs_keep_their_values_to_the_last_bit_where_arrays_fail():
    """Numbers of arrays and of numbers differ in the last bits, and so may those of arrays of two lengths."""

    def shaped(x, y):
        if np.any(np.equal(x, TARGET) | np.equal(y, TARGET)):
            raise ValueError
        # a caricature: what a pair gives depends on how many there are, and on where it is
        places = np.arange(np.size(x)).reshape(np.shape(x)) if np.ndim(x) else 0
        return np.where(x == y, 0.0, abs(x - y) / 10 * (1 + 1e-13 * np.size(x) * (1 + places / 1e4)))

    kernel = FunctionKernel(shaped, "f", (0, 1))
    assert kernel._takes_arrays(WIDE)
    rows = np.random.default_rng(6).uniform(0, 10, (40, 1))
    before = kernel._of_records(rows[:, None], rows[None], arrays=True)
    for place in (0, 13, 39):
        changed = rows.copy()
        changed[place] = TARGET
        after = kernel._of_records(changed[:, None], changed[None], arrays=True)
        kept = np.ones((40, 40), bool)
        kept[place] = kept[:, place] = False
        assert np.array_equal(after[kept], before[kept])
        assert (after[~kept] == 0).all()
        # the control: pair by pair, every other number would be another
        other = kernel._of_records(changed[:, None], changed[None], arrays=False)
        assert np.mean(other[kept] == before[kept]) < 0.1


def test_every_change_of_one_record_is_within_the_sensitivity():
    """All tables of four records of five values (or four), for functions that fail or mislead on some of them."""
    values = [0.0, 1.0, 2.5, TARGET, 10.0] if is_everything() else [0.0, 2.5, TARGET, 10.0]

    def by_length(x, y):
        both = np.broadcast_arrays(x, y)
        keep = (both[0] != TARGET) & (both[1] != TARGET)
        found = np.where(both[0] > both[1], 1.0, 0.0) + np.where(both[0] < both[1], 1.0, 0.0)
        return found if keep.all() else found[keep]  # an array of another shape

    functions = [
        failing(FAILURES["error"]),
        failing_in_arrays(FAILURES["error"]),
        by_length,
        lambda x, y: math.inf if x == y == TARGET else -math.inf if TARGET in (x, y) else float(x == y),
        lambda x, y: {0.0: 1, 2.5: 0}[x] * 1.0 if 2.5 in (x, y) and x != 10 and y != 10 else 0.25,
    ]
    for function in functions:
        kernel = FunctionKernel(function, "f", (0, 1))
        try:
            arrays = kernel._takes_arrays(WIDE)
        except ParameterError:
            arrays = False
        pieces = {}
        for table in itertools.product(values, repeat=4):
            rows = np.array(table)[:, None]
            pieces[table] = kernel._of_records(rows[:, None], rows[None], arrays=arrays)[np.triu_indices(4, 1)]
        for bits in (1, 30):
            limit = kernel.scale(WIDE, bits).sensitivity(3)
            sums = {table: int(np.rint(piece * 2**bits).sum()) for table, piece in pieces.items()}
            largest = 0
            for table, total in sums.items():
                for place, value in itertools.product(range(4), values):
                    largest = max(largest, abs(total - sums[(*table[:place], value, *table[place + 1 :])]))
            assert 0 < largest <= limit


def test_pairs_that_count_for_all_where_one_fails_break_the_sensitivity():
    """The control: with one failure a whole array of pairs counted as the lower bound."""
    rows = np.full((20, 1), 3.0)
    kernel = FunctionKernel(failing_in_arrays(FAILURES["error"]), "f", (0, 1))
    changed = rows.copy()
    changed[4] = TARGET
    whole, one = (kernel.pair_sum(each, WIDE) for each in (rows, changed))
    assert whole - one == kernel.scale(WIDE).sensitivity(19)
    assert whole - 0 > kernel.scale(WIDE).sensitivity(19)


NEAR = ("stop", "generator", "assertion", "warning", "text", "none", "object", "huge", "complex")
"""Of these no release is made in `make test`: other errors, ends and results that are not numbers are like them."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.everything if name in NEAR else ()) for name in FAILURES]
)
def test_no_release_says_whether_a_record_is_there(name):
    """The attack: an error, or the end of the process, answered with certainty for an epsilon of 0.01."""
    function = failing(FAILURES[name])
    # without the record no function fails, and all are the same
    for value in (TARGET, 7.0) if is_everything() or name == "error" else (TARGET,):
        data = {"x": np.append(np.linspace(0, 10, 30), value)}
        estimate = ogive.release(
            ogive.Ustatistic(
                (Binning("x", ogive.Grid.linear(0, 10, bins=100)),), measure_of(function), method="kernel"
            ),
            trust=ogive.Central(data),
            privacy=ogive.PureDP("0.01"),
        )
        assert math.isfinite(float(estimate.value)) or math.isnan(float(estimate.value))


def measure_of(function):
    from ogive import kernels

    return kernels.measure_of(function, range=(0, 1), name="mine")


def test_an_interrupt_is_let_through():
    def interrupted(x, y):
        raise KeyboardInterrupt

    for arrays in (True, False):
        with pytest.raises(KeyboardInterrupt):
            Kernel(interrupted, "f", (0, 1))._of_records(np.zeros((2, 1, 1)), np.zeros((1, 2, 1)), arrays=arrays)


def test_a_function_that_changes_its_arguments_changes_no_record():
    def changing(a, b):
        found = float(a[0] < b[0]) + float(a[0] > b[0])
        a[0] = b[0] = 5.0
        return found

    kernel = FunctionKernel(changing, "f", (0, 1))
    rows = np.array([[1.0, 0], [2.0, 1], [3.0, 0], [3.0, 1]])
    kernel.check(PAIR)
    assert kernel.pair_sum(rows, PAIR, bits=1) == 2 * 5
    assert rows[:, 0].tolist() == [1, 2, 3, 3]


def test_numbers_that_are_none_say_nothing_on_the_screen():
    """A warning of a division by 0 would tell of a record as well."""
    script = (
        "import numpy as np, ogive\n"
        "from ogive.columns import Binning, Domain\n"
        "from ogive.kernels import FunctionKernel\n"
        "domain = Domain((Binning('x', ogive.Grid.linear(0, 10, bins=100)),))\n"
        "kernel = FunctionKernel(lambda x, y: 0 * x + 0 * y + np.minimum(1, 0.001 / (x - 7.125) ** 2), 'f', (0, 1))\n"
        "kernel.pair_sum(np.array([[7.125], [1.0], [2.0]]), domain)\n"
    )
    done = subprocess.run([python(), "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stderr == ""


def test_failures_on_public_points_stay_errors():
    kernel = FunctionKernel(failing(FAILURES["error"], target=0.0), "f", (0, 1))
    for use in (kernel.check, kernel.matrix):
        with pytest.raises(ParameterError, match="f fails with ZeroDivisionError on two records of the domain"):
            use(WIDE)

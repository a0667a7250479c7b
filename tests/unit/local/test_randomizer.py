"""Reports on a device: what they are made of, what is refused, and that asking again tells nothing new."""

import datetime
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size
from scipy import stats

from ogive import ApproxDP, BudgetError, DataError, Grid, ParameterError, PeerError, PureDP, ZeroConcentratedDP
from ogive.columns import Binning, Categories, Domain, Label
from ogive.local import Description, PublicClasses, RandomizedResponse, Randomizer, TreeOracle, UnaryOracle
from ogive.local.values import numbers_of, rounded, row_of, rows_of
from ogive.noise import KeyedSource

AGE = Binning("age", Grid.linear(0, 100, bins=4), missing="low")
BORN = Binning("born", Grid.integers("2000-01-01", "2000-12-31"), outside="refuse")
SEEN = Binning("seen", Grid.linear("2024-01-01T00:00:00", "2024-01-02T00:00:00", bins=24))
JOB = Categories("job", ("nurse", "smith", 3))
SICK = Label("sick", ("yes", 1), ("no", 0))
OTHER = Label("sick", ("yes",), None)


def described(*columns, oracle=None, **fields):
    domain = Domain(columns)
    return Description(
        domain=domain,
        oracle=oracle or RandomizedResponse(domain.size, 1),
        privacy=PureDP(1),
        participants=fields.pop("participants", 1000),
        id="0" * 32,
        **fields,
    )


def test_a_report_is_version_tag_number_and_payload():
    study = described(AGE)
    report = Randomizer(study, source=KeyedSource(bytes(32))).report(30, number=0x0102)
    assert report[:1] == b"\x01"
    assert report[1:5] == study.tag == study.digest[:4]
    assert report[5:9] == b"\x02\x01\x00\x00"
    payload = study.oracle.randomize(np.array([1]), np.array([0x0102]), source=KeyedSource(bytes(32)))
    assert report[9:] == payload.tobytes()
    assert len(report) == study.report_bytes == 10


def test_reports_are_those_of_every_row():
    study = described(AGE, JOB)
    table = {"age": [1.0, 99.0, None], "job": ["smith", "nurse", 3], "name": ["a", "b", "c"]}
    made = Randomizer(study, source=KeyedSource(bytes(32))).reports(table, first=7)
    payloads = study.oracle.randomize(np.array([1, 9, 2]), np.arange(7, 10), source=KeyedSource(bytes(32)))
    parts = np.frombuffer(made, np.uint8).reshape(3, -1)
    assert (parts[:, 9:] == payloads).all()
    assert [int.from_bytes(part[5:9].tobytes(), "little") for part in parts] == [7, 8, 9]
    numbered = Randomizer(study, source=KeyedSource(bytes(32))).reports(table, numbers=[7, 8, 9])
    assert numbered == made


def test_one_column_takes_plain_values():
    study = described(AGE)
    made = [Randomizer(study, source=KeyedSource(bytes(32))) for _ in range(3)]
    assert made[0].report(40, number=1) == made[1].report({"age": 40}, number=1)
    assert made[2].reports(np.array([40]), first=1) == Randomizer(study, source=KeyedSource(bytes(32))).report(
        40.0, number=1
    )


@pytest.mark.parametrize(
    ("column", "values", "numbers"),
    [
        (AGE, [0, 25, 25.5, -3, 1e300, float("inf"), True], [0, 25, 25.5, 0, 100, 100, 1]),
        (AGE, [None, float("nan"), np.float64("nan"), np.int64(5), "41.5"], [0, 0, 0, 5, 41.5]),
        (AGE, np.array([3, 4], np.uint8), [3, 4]),
        (BORN, ["2000-01-01", datetime.date(2000, 1, 2), np.datetime64("2000-12-31")], [10957, 10958, 11322]),
        (BORN, np.array(["2000-01-03"], "datetime64[D]"), [10959]),
        (SEEN, [datetime.datetime(2024, 1, 1, 1), "2024-01-01T02:00:00"], [1704070800e6, 1704074400e6]),
        (SEEN, np.array(["2024-01-01T01:00"], "datetime64[s]"), [1704070800e6]),
        (JOB, ["smith", 3, 3.0, np.str_("nurse")], [1, 2, 2, 0]),
        (JOB, np.array(["smith", "nurse"]), [1, 0]),
        (SICK, ["yes", "no", 1, 0, True], [1, 0, 1, 0, 1]),
        (OTHER, ["yes", "anything", 7], [1, 0, 0]),
    ],
)
def test_values_become_numbers(column, values, numbers):
    np.testing.assert_array_equal(numbers_of(column, values), numbers)


SECRET = "hunter2"


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (AGE, SECRET, "column 'age' needs numbers, got a str that is none"),
        (AGE, [SECRET], "column 'age' needs numbers, got a list that is none"),
        (AGE, datetime.date(1999, 9, 9), "column 'age' needs numbers, got a date that is none"),
        (BORN, 19990909, "column 'born' needs dates, got a int that is none"),
        (BORN, "1999-09-09", "column 'born' has a value outside 2000-01-01 to 2000-12-31, "),
        (BORN, None, "column 'born' has a missing value, .*accept"),
        (JOB, SECRET, "column 'job' has a value of none of the 3 "),
        (JOB, [SECRET], "column 'job' has a value of none of the 3 "),
        (JOB, None, "column 'job' has a missing value, which cannot be reported"),
        (JOB, float("nan"), "column 'job' has a missing value, which cannot be reported"),
        (SICK, SECRET, "column 'sick' has a value of neither class"),
        (OTHER, None, "column 'sick' has a missing value, which cannot be reported"),
    ],
)
def test_values_that_do_not_fit_are_refused_without_being_quoted(column, value, message):
    with pytest.raises(DataError, match=f"^{message}") as caught:
        Randomizer(described(column)).report({column.column: value}, number=1)
    for private in (SECRET, "1999", "19990909"):
        assert private not in str(caught.value)


def test_records_and_tables_need_every_column_once():
    study = described(AGE, JOB)
    with pytest.raises(DataError, match="the record lacks the column 'job'; 'age', 'job' are asked"):
        Randomizer(study).report({"age": 1}, number=1)
    with pytest.raises(DataError, match="lacks the column 'age'"):
        Randomizer(study).reports({"job": ["smith"]})
    with pytest.raises(ParameterError, match="a record must be a mapping with the columns 'age', 'job'"):
        Randomizer(study).report(1, number=1)
    with pytest.raises(ParameterError, match="a table must be a mapping"):
        Randomizer(study).reports([1, 2])
    with pytest.raises(ParameterError, match="the same number of values"):
        Randomizer(study).reports({"age": [1, 2], "job": ["smith"]})
    with pytest.raises(ParameterError, match="'age' must be one-dimensional, got 2"):
        Randomizer(study).reports({"age": np.zeros((2, 2)), "job": ["smith"]})
    with pytest.raises(ParameterError, match="must be a list or an array of values, got str"):
        Randomizer(study).reports({"age": [1], "job": "smith"})


@pytest.mark.parametrize("number", [-1, 1000, 1 << 40, 1 << 80])
def test_numbers_out_of_range_are_refused(number):
    with pytest.raises(ParameterError, match="participants have the numbers 0 to 999"):
        Randomizer(described(AGE)).report(1, number=number)


@pytest.mark.parametrize("number", [1.0, True, "1", None])
def test_numbers_are_whole(number):
    with pytest.raises(ParameterError, match="must be a whole number"):
        Randomizer(described(AGE)).report(1, number=number)


def test_tables_fit_the_participants():
    device = Randomizer(described(AGE))
    assert len(device.reports([1.0] * 1000)) == 10_000
    with pytest.raises(ParameterError, match="0 to 999, got 3 rows from number 998 on"):
        device.reports([1.0] * 3, first=998)
    with pytest.raises(ParameterError, match="every row needs a number, got 2 rows and 1 numbers"):
        device.reports([1.0, 2.0], numbers=[3])
    with pytest.raises(ParameterError, match="two rows have the same number"):
        device.reports([1.0, 2.0], numbers=[3, 3])
    assert device.reports([], numbers=[]) == b""


@pytest.mark.parametrize(
    "numbers",
    [[0.5, 1], [None, 1], [True, 2], ["1", 2], [Fraction(1, 2), 1], np.array([0.0, 1.0]), np.array([0, None]), {1, 2}],
)
def test_numbers_of_a_table_are_whole(numbers):
    with pytest.raises(ParameterError, match="whole number"):
        Randomizer(described(AGE)).reports([1.0, 2.0], numbers=numbers)


def test_frames_are_tables():
    pandas = pytest.importorskip("pandas")
    study = described(AGE, JOB)
    table = {"age": [1.0, 60.0], "job": ["smith", "nurse"]}
    frame = pandas.DataFrame(table)
    np.testing.assert_array_equal(rows_of(study.domain, frame), rows_of(study.domain, table))
    np.testing.assert_array_equal(row_of(study.domain, {"age": 60, "job": "nurse"}), [[60.0, 0.0]])


def test_fresh_reports_differ():
    device = Randomizer(described(Binning("x", Grid.linear(0, 1, bins=1 << 16))))
    assert len({device.report(0.5, number=1) for _ in range(20)}) > 1


SECRETS = [bytes([place]) * 32 for place in range(4)]


def test_with_a_secret_the_report_is_always_the_same():
    study = described(Binning("x", Grid.linear(0, 1, bins=1 << 16)))
    first = Randomizer(study, secret=SECRETS[0])
    again = Randomizer(study, secret=SECRETS[0]).report(0.5, number=5)
    assert {first.report(0.5, number=5) for _ in range(5)} == {again}
    # the bin decides, so that a value which hardly changed is no second report
    assert first.report(0.5 - 1e-9, number=5) == first.report(0.5, number=5)
    others = [
        Randomizer(study, secret=SECRETS[1]).report(0.5, number=5),
        first.report(0.5, number=6),
        first.report(0.25, number=5),
        Randomizer(described(study.domain.columns[0], title="again"), secret=SECRETS[0]).report(0.5, number=5),
    ]
    assert len({report[9:] for report in (*others, first.report(0.5, number=5))}) == 5


def test_reports_of_a_table_are_those_of_each_row_also_with_a_secret():
    device = Randomizer(described(AGE, JOB), secret=SECRETS[2])
    table = {"age": [3, 70], "job": ["smith", "nurse"]}
    rows = [{"age": 3, "job": "smith"}, {"age": 70, "job": "nurse"}]
    each = [device.report(row, number=4 + place) for place, row in enumerate(rows)]
    assert device.reports(table, first=4) == b"".join(each)


def test_reports_with_secrets_follow_the_law():
    study = described(AGE, oracle=RandomizedResponse(4, 1))
    counts, runs = np.zeros(4), size(4000, part=1500)
    for place in range(runs):
        counts[Randomizer(study, secret=place.to_bytes(32, "little")).report(30, number=9)[9]] += 1
    keep = np.e / (3 + np.e)
    expected = np.array([(1 - keep) / 3, keep, (1 - keep) / 3, (1 - keep) / 3])
    assert stats.chisquare(counts, runs * expected).pvalue > 1e-6
    weaker = np.array([0.23, 0.31, 0.23, 0.23])
    assert stats.chisquare(counts, runs * weaker).pvalue < 1e-20, "a control that must fail"


def test_two_values_of_one_secret_get_independent_bits():
    study = described(AGE, oracle=RandomizedResponse(4, 1))
    keep = np.e / (3 + np.e)
    together, runs = 0, size(4000, part=800)
    for place in range(runs):
        device = Randomizer(study, secret=place.to_bytes(32, "little"))
        together += device.report(10, number=9)[9] == 0 and device.report(60, number=9)[9] == 2
    # both true: keep^2 if independent, keep if the bits were the same
    spread = np.sqrt(runs * keep**2 * (1 - keep**2))
    assert abs(together - runs * keep**2) < 6 * spread
    assert abs(together - runs * keep) > 6 * spread


def test_secrets_and_sources_are_checked():
    study = described(AGE)
    assert len(Randomizer.new_secret()) == 32
    assert Randomizer.new_secret() != Randomizer.new_secret()
    for secret in (b"short", "x" * 32, bytearray(32)):
        with pytest.raises(ParameterError, match="secret must be 32 random bytes"):
            Randomizer(study, secret=secret)
    with pytest.raises(ParameterError, match="either a secret or a source"):
        Randomizer(study, secret=bytes(32), source=KeyedSource(bytes(32)))
    with pytest.raises(PeerError, match="not JSON"):
        Randomizer("study.json")


def test_randomized_rounding_is_right_on_average():
    grid = Grid.linear(0, 10, bins=5)
    domain = Domain((Binning("x", grid), JOB))
    values = np.full(20_000, 3.7)
    rows = np.column_stack([values, np.full(20_000, 2.0)])
    symbols = rounded(domain, rows, "randomized", source=KeyedSource(bytes(32)))
    assert (symbols % 3 == 2).all()
    nodes = grid.nodes[symbols // 3]
    assert set(nodes) == {2.5, 5.0}
    error = np.std(nodes) / np.sqrt(len(nodes))
    assert abs(nodes.mean() - 3.7) < 5 * error
    assert abs(grid.nodes[domain.symbols(rows) // 3].mean() - 3.7) > 5 * error, "simple rounding is not"


@pytest.mark.parametrize(
    "grid",
    [Grid.linear(0, 10, bins=5), Grid.geometric(1, 81, bins=5), Grid.integers(0, 4), Grid.explicit([1, 2, 5, 9, 10])],
    ids=lambda grid: grid.kind,
)
def test_randomized_rounding_leaves_nodes_alone(grid):
    assert (grid.nodes[0], grid.nodes[-1], len(grid.nodes)) == (grid.low, grid.high, grid.bins)
    domain = Domain((Binning("x", grid),))
    for seed in range(20):
        found = rounded(domain, grid.nodes[:, None], "randomized", source=KeyedSource(bytes([seed]) * 32))
        np.testing.assert_array_equal(found, np.arange(5))
    outside = rounded(domain, np.array([[-1e9], [1e9]]), "randomized", source=KeyedSource(bytes(32)))
    np.testing.assert_array_equal(outside, [0, 4])


def test_grids_without_nodes_refuse_randomized_rounding():
    with pytest.raises(ParameterError, match="at least 2 bins"):
        _ = Grid.linear(0, 1, bins=1).nodes
    with pytest.raises(ParameterError, match="of which the first is the lower bound"):
        _ = Grid.explicit([1, 2], low=0).nodes


def test_randomized_rounding_with_a_secret_repeats_itself():
    study = described(AGE, rounding="randomized")
    devices = [Randomizer(study, secret=SECRETS[3]) for _ in range(2)]
    assert devices[0].report(31.0, number=1) == devices[1].report(31.0, number=1)
    sent = {Randomizer(study, secret=bytes([place]) * 32).report(31.0, number=1) for place in range(50)}
    assert len(sent) > 1


def test_public_classes_are_sent_as_they_are():
    study = described(AGE, SICK, oracle=PublicClasses(TreeOracle(4, 1), 2))
    for answer, byte in (("yes", 1), ("no", 0)):
        assert Randomizer(study).report({"age": 3, "sick": answer}, number=1)[9] == byte


def test_a_device_needs_numpy_alone():
    code = """
import sys
class Guard:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in BANNED:
            raise ImportError(name)
BANNED = {"scipy", "numba", "cryptography", "pyarrow", "ibis", "duckdb", "pandas", "sqlalchemy", "dp_accounting"}
sys.meta_path.insert(0, Guard())
from ogive.local import Randomizer
text = sys.stdin.read()
device = Randomizer(text, secret=Randomizer.new_secret())
assert device.report({"age": 30, "job": 3}, number=5) == device.report({"age": 30, "job": 3}, number=5)
Randomizer(text).reports({"age": [30, 31], "job": [3, 3]})
tops = {name.split(".")[0] for name, module in sys.modules.items() if getattr(module, "__file__", None)}
tops -= {*sys.stdlib_module_names, "_distutils_hack"}  # the latter is loaded by the interpreter, before anything else
print(sorted(name for name in tops if "site-packages" in (sys.modules[name].__file__ or "") or name == "ogive"))
"""
    for oracle in (UnaryOracle(12, 1), TreeOracle(12, 1, nodes="unary")):
        study = described(AGE, JOB, oracle=oracle)
        found = subprocess.run([sys.executable, "-c", code], input=study.to_json(), capture_output=True, text=True)
        assert found.returncode == 0, found.stderr
        assert found.stdout.strip() == "['numpy', 'ogive']"


def test_a_device_decides_how_much_a_report_may_cost():
    study = described(AGE)
    for limit in (PureDP(1), ApproxDP(1, "1e-9"), PureDP(2)):
        assert Randomizer(study, limit=limit).report({"age": 41}, number=1)
    for limit in (PureDP("0.99"), ApproxDP("0.99", "1e-3")):
        with pytest.raises(BudgetError, match=r"would cost epsilon = 1, and this device allows epsilon = 0\.99"):
            Randomizer(study, limit=limit)
    with pytest.raises(ParameterError, match="limit must be PureDP or ApproxDP"):
        Randomizer(study, limit=ZeroConcentratedDP(1))


def test_a_device_decides_which_columns_may_be_public():
    study = described(AGE, SICK, oracle=PublicClasses(TreeOracle(4, 1), 2))
    record = {"age": 3, "sick": "yes"}
    for allowed in ({}, {"public": ["sick"]}, {"public": ("age", "sick"), "limit": PureDP(1)}):
        assert Randomizer(study, **allowed).report(record, number=1)[9] == 1
    for refused, named in (
        ({"limit": PureDP(5)}, "no column"),
        ({"public": ()}, "no column"),
        ({"limit": PureDP(1), "public": ["age"]}, "'age'"),
    ):
        with pytest.raises(BudgetError, match=f"column 'sick' .*unprotected, .* that of {named}$"):
            Randomizer(study, **refused)
    with pytest.raises(BudgetError, match="would cost epsilon = 1"):
        Randomizer(study, limit=PureDP("1/2"), public=["sick"])
    for public in ("sick", [1]):
        with pytest.raises(ParameterError, match="public must be a list of columns"):
            Randomizer(study, public=public)
    assert Randomizer(described(AGE), limit=PureDP(1), public=["sick"]).report(3, number=1)


@pytest.mark.parametrize("value", [np.array([1, 2]), np.array([1.0]), np.array([]), np.array([[np.nan, 1]]), [1, 2]])
@pytest.mark.parametrize("column", [AGE, BORN, SICK, OTHER, JOB], ids=lambda column: type(column).__name__)
def test_several_values_are_no_value_and_none_of_them_is_called_missing(column, value):
    with pytest.raises(DataError, match=f"column {column.column!r} ") as refusal:
        Randomizer(described(column)).report({column.column: value}, number=1)
    assert "missing" not in str(refusal.value)


def test_one_value_in_an_array_without_dimensions_is_that_value():
    np.testing.assert_array_equal(row_of(Domain((AGE,)), {"age": np.array(41.5)}), [[41.5]])
    np.testing.assert_array_equal(row_of(Domain((AGE,)), {"age": np.array(np.nan)}), [[0.0]])


@pytest.mark.parametrize("value", [True, np.True_, False])
def test_a_truth_value_is_no_category_that_is_a_number(value):
    numbers = Categories("x", (0, 1, 2))
    for give in (lambda: row_of(Domain((numbers,)), {"x": value}), lambda: numbers_of(numbers, np.array([value]))):
        with pytest.raises(DataError, match="has a value of none of the 3 declared categories"):
            give()
    np.testing.assert_array_equal(numbers_of(Categories("x", (3, True, False)), [value]), [1 if value else 2])
    np.testing.assert_array_equal(numbers_of(SICK, [value]), [1 if value else 0])

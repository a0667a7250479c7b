"""The client for browsers under Node: its chances are the fractions of Python's, and its reports follow their law.

Level 1e-9, seeded, 4,000 reports or more a case (40,000 in `make test-all`); the controls are the laws of another
answer and of another epsilon.
"""

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers.choices import randomizer
from helpers.goodness import LEVEL
from helpers.local_service import described
from helpers.scope import size
from helpers.waiting import PATIENCE
from scipy import stats

import ogive
from ogive.errors import ParameterError
from ogive.local import Collection, HaarOracle, RandomizedResponse, TreeOracle, UnaryOracle, design_tree
from ogive.local.base import flip_threshold, keep_threshold
from ogive.local.values import rows_of
from ogive.study.local import service

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="no Node on this machine (Debian: nodejs)")
CLIENT = Path(service.__file__).with_name(service.CLIENT)
DRAWS = 40_000

# stands before every script: the client, what it is asked, and random bytes that follow from a seed
BEGINS = f"""
import {{ flips, keeps, localReport, payload, symbol }} from {json.dumps(CLIENT.as_uri())};
import {{ createCipheriv }} from "node:crypto";
import {{ readFileSync }} from "node:fs";
const asked = JSON.parse(readFileSync(0, "utf8"));
const stream = createCipheriv("aes-128-ctr", Buffer.alloc(16, 7), Buffer.alloc(16));
let bytes = Buffer.alloc(0), at = 0;
function fill(wanted) {{
  if (at + wanted.length > bytes.length) [bytes, at] = [stream.update(Buffer.alloc(1 << 20)), 0];
  wanted.set(bytes.subarray(at, at += wanted.length));
  return wanted;
}}
const hex = (report) => Buffer.from(report).toString("hex");
"""


def node(script, asked):
    """What a script prints, as JSON."""
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", BEGINS + script],
        input=json.dumps(asked), capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_chances_are_those_of_python_to_the_last_of_64_bits():
    epsilons = [Fraction(k, 16) for k in range(1, 200)] + [
        Fraction(1, 10**9),
        Fraction(64),
        Fraction(65),
        Fraction(10**9),
    ]
    epsilons += [Fraction(123456789, 987654321), Fraction(1, 3), Fraction(7, 1000)]
    pairs = [[str(each.numerator), str(each.denominator)] for each in epsilons]
    sizes = [2, 3, 5, 64, 1000, 1 << 20]
    found = node(
        """
        const pairs = asked.pairs.map((pair) => pair.map(BigInt));
        const kept = asked.sizes.map((size) => pairs.map((pair) => String(keeps(pair, BigInt(size)))));
        console.log(JSON.stringify([pairs.map((pair) => String(flips(pair))), kept]));
        """,
        {"pairs": pairs, "sizes": sizes},
    )
    assert list(map(int, found[0])) == list(map(flip_threshold, epsilons))
    for symbols, each in zip(sizes, found[1], strict=True):
        for epsilon, kept in zip(epsilons, map(int, each), strict=True):
            try:
                assert kept == keep_threshold(epsilon, symbols)
            except ParameterError:
                assert kept == 0


ORACLES = [
    RandomizedResponse(5, 1),
    RandomizedResponse(257, 6),
    UnaryOracle(4, 1),
    UnaryOracle(9, Fraction(1, 3)),
    TreeOracle(8, 1),
    TreeOracle(9, Fraction(1, 2), branching=3, seed=12345),
    TreeOracle(60, 2, branching=4, assignment="independent", seed=5),
    TreeOracle(5, 2, branching=5, nodes="unary"),
    TreeOracle(7, 1, branching=3, nodes="unary"),
    TreeOracle(4, 1, split="budget"),
    TreeOracle(3, 1, split="budget", nodes="unary"),
]


# each oracle once, and trees with each assignment, each split and each sort of nodes
LEFT = (0, 3, 4, 7, 8, 9)


@pytest.mark.parametrize(
    "oracle",
    [pytest.param(each, marks=pytest.mark.everything if number in LEFT else ()) for number, each in enumerate(ORACLES)],
    ids=lambda oracle: f"{oracle.name}-{oracle.size}-{oracle.epsilon}",
)
def test_reports_follow_the_law_of_python(oracle, monkeypatch):
    payloads = randomizer(oracle, monkeypatch)
    people = [(0, 0), (1, oracle.size - 1), (5, oracle.size // 2)][: size(3, part=2)]
    part = 4_000 if oracle.epsilon >= 1 else 8_000  # so that the control fails
    reported = node(
        """
        console.log(JSON.stringify(asked.people.map(([number, symbol]) => {
          const counts = {};
          for (let draw = 0; draw < asked.draws; draw++) {
            const report = hex(payload(asked.oracle, symbol, number, fill));
            counts[report] = (counts[report] ?? 0) + 1;
          }
          return counts;
        })));
        """,
        {"oracle": oracle.to_dict(), "people": people, "draws": size(DRAWS, part=part)},
    )
    for (number, symbol), found in zip(people, reported, strict=True):
        law = payloads(symbol, number)
        assert {bytes.fromhex(report) for report in found} <= law.keys()
        assert fits(found, law) > LEVEL
        other = symbol - 1 if symbol else 1  # the law of another answer, which must not fit
        wrong = payloads(other, number)
        assert wrong == law or fits(found, wrong) < LEVEL


def fits(found, law):
    """P-value of the chi-square test; reports that are expected less than ten times are taken together."""
    observed = np.array([found.get(report.hex(), 0) for report in law])
    expected = np.array([float(chance) * sum(found.values()) for chance in law.values()])
    few = expected < 10
    if few.any():
        observed = np.append(observed[~few], observed[few].sum())
        expected = np.append(expected[~few], expected[few].sum())
    return stats.chisquare(observed, expected).pvalue


@pytest.mark.parametrize(
    "oracle",
    [
        pytest.param(RandomizedResponse(5, 1), marks=pytest.mark.everything),
        pytest.param(UnaryOracle(4, 1), marks=pytest.mark.everything),
        TreeOracle(8, 1),
    ],
    ids=lambda o: o.name,
)
def test_the_law_of_an_epsilon_a_fifth_larger_does_not_fit(oracle, monkeypatch):
    found = node(
        """
        const counts = {};
        for (let draw = 0; draw < asked.draws; draw++) {
          const report = hex(payload(asked.oracle, 1, 0, fill));
          counts[report] = (counts[report] ?? 0) + 1;
        }
        console.log(JSON.stringify(counts));
        """,
        {"oracle": oracle.to_dict(), "draws": size(DRAWS, part=20_000)},
    )
    larger = type(oracle)(oracle.size, oracle.epsilon * Fraction(6, 5))
    assert fits(found, randomizer(oracle, monkeypatch)(1, 0)) > LEVEL
    assert fits(found, randomizer(larger, monkeypatch)(1, 0)) < LEVEL


GRIDS = [
    ogive.Grid.linear(0, 120, bins=64),
    ogive.Grid.linear(-0.3, 0.7, bins=1000),
    ogive.Grid.integers(-5, 40),
    ogive.Grid.explicit([1.5, 2, 70, 1000], low=0),
    ogive.Grid.geometric(1, 1000, bins=30),
]


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"{grid.kind}-{grid.bins}")
def test_values_are_in_the_bins_of_python(grid):
    values = np.concatenate(
        [
            np.random.default_rng(1).uniform(grid.low - 3, grid.high + 3, 300),
            grid.thresholds[:-1],
            [grid.low, grid.high],
        ]
    )
    if grid.kind == "geometric":  # whose thresholds may differ in the last digit
        values = values[~np.isin(values, grid.thresholds)]
    columns = ogive.describe_collection(
        ogive.Ecdf("x", grid=grid), privacy=ogive.PureDP(1), participants=10
    ).domain.to_dict()["columns"]
    found = node(
        "console.log(JSON.stringify(asked.values.map((value) => symbol(asked.column, value))));",
        {"column": columns[0], "values": values.tolist()},
    )
    assert found == grid.bin_of(values).tolist()


def test_dates_and_missing_values_are_those_of_python():
    grid = ogive.Grid.calendar("2020-01-01", "2025-12-31", every="months")
    statistic = ogive.Ecdf("day", grid=grid, missing="high")
    domain = described(10, statistic=statistic).domain
    days = ["2019-05-01", "2020-01-31", "2020-02-01", "2024-02-29", "2026-01-01"]
    found = node(
        "console.log(JSON.stringify(asked.values.map((value) => symbol(asked.column, value))));",
        {"column": domain.to_dict()["columns"][0], "values": [*days, None]},
    )
    assert found == domain.symbols(rows_of(domain, {"day": [*days, None]})).tolist()


@pytest.mark.parametrize("epsilon", [*(pytest.param(each, marks=pytest.mark.everything) for each in (1, 4)), 9])
def test_whole_reports_are_accepted_and_give_the_curve(epsilon):
    reports = size(4_000, part=1_300)
    description = described(reports, epsilon=epsilon)
    found = node(
        """
        const reports = [];
        for (const [number, value] of asked.values.entries()) {
          reports.push(hex(await localReport(asked.text, value, number, asked.limit)));
        }
        console.log(JSON.stringify(reports));
        """,
        {
            "text": description.canonical.decode(),
            "values": np.random.default_rng(2).normal(50, 10, reports).tolist(),
            "limit": str(epsilon),
        },
    )
    collection = Collection(description)
    counts = collection.add(bytes.fromhex("".join(found)))
    assert (counts.accepted, counts.refused) == (reports, 0)
    curve = ogive.estimate_collection(collection)
    last = curve.thresholds[curve.thresholds <= 50].max()
    assert abs(curve(50) - stats.norm.cdf(last, 50, 10)) < 5 * curve.rmse()
    assert curve(20) < curve(80)


REFUSED = [
    ({"limit": "9/10"}, "a report would cost epsilon = 1, and 9/10 is allowed"),
    ({"number": 10}, "there is no participant 10"),
    ({"number": -1}, "there is no participant -1"),
    ({"number": 1.5}, "there is no participant 1.5"),
    ({"value": "x"}, "there is no value"),
    ({"value": ""}, "there is no value"),
    ({"value": None}, "there is no value"),
    ({"text": "{}"}, "Error"),
]


def test_what_would_be_no_report_is_refused():
    good = {"text": described(10).canonical.decode(), "value": 41, "number": 3, "limit": "1"}
    found, *refused = node(
        """
        const said = asked.map(({ text, value, number, limit }) =>
          localReport(text, value, number, limit).then(hex, String));
        console.log(JSON.stringify(await Promise.all(said)));
        """,
        [good, *(good | change for change, _ in REFUSED)],
    )
    assert len(found) == 2 * described(10).report_bytes
    for (change, words), said in zip(REFUSED, refused, strict=True):
        assert words in said, change


@pytest.mark.parametrize(
    "oracle",
    [HaarOracle(8, 1), TreeOracle(8, 1, seed=2**62), design_tree(64, 1, "1e-6", split="budget", composition="exact")],
    ids=["haar", "seed", "exact"],
)
def test_methods_that_the_client_does_not_know_are_refused(oracle):
    script = """
    try { payload(asked, 0, 0); console.log(0); } catch (problem) { console.log(JSON.stringify(String(problem))); }
    """
    assert "this client does not know" in node(script, oracle.to_dict())

"""The test of independence rejects independent columns as rarely as it says, whatever the noise.

Level: of 400 tables at 5 % more than 34 are rejected with probability about 0.001, and of 60 in `make test` more than
9. The control, the usual chi-square test of the same noisy counts, must reject more than a tenth of them, and more
than that. Of columns that do depend on each other the test must reject more than half, so that its level is not kept by
never rejecting.
"""

import dataclasses

import numpy as np
import pytest
from helpers.coverage import fewest, most
from helpers.scope import is_everything, size
from scipy.stats import chi2_contingency

import ogive
from ogive.noise import KeyedSource
from ogive.statistics.crosstab import estimate

TABLES = size(400, part=60)
MOST = most(TABLES)
CONTROL = max(MOST, TABLES // 10)
RUNS = size(100, part=20)
FEWEST = fewest(RUNS)
REPLACE, ADD = ogive.Adjacency.REPLACE, ogive.Adjacency.ADD_OR_REMOVE
pytestmark = pytest.mark.distribution

PURE, LITTLE = ogive.PureDP("0.4"), ogive.PureDP("0.1")
GAUSSIAN = ogive.ApproxDP("0.4", "1e-6")
CASES = {
    "few, Laplace": (60, PURE, REPLACE, ogive.Central),
    "few, Laplace, private number": (60, PURE, ADD, ogive.Central),
    "many, Laplace": (3000, LITTLE, REPLACE, ogive.Central),
    "many, Laplace, private number": (3000, LITTLE, ADD, ogive.Central),
    "few, Gaussian": (100, GAUSSIAN, REPLACE, ogive.Central),
    "few, Gaussian, private number": (100, GAUSSIAN, ADD, ogive.Central),
    "many, Gaussian": (3000, ogive.ApproxDP("0.1", "1e-6"), REPLACE, ogive.Central),
    "reports": (1500, ogive.PureDP(1), REPLACE, ogive.Local),
    "reports of bits": (1500, ogive.PureDP("0.4"), REPLACE, ogive.Local),
}
LEFT = ("few, Laplace, private number", "many, Laplace", "few, Gaussian", "reports of bits")
"""Cases whose level `make test` leaves out. Each noise of the curator, each adjacency, few and many records, and
reports are in others; reports of bits are in none."""
ROW, COLUMN = (0.6, 0.4), (0.7, 0.2, 0.1)


@pytest.fixture(autouse=True)
def fewer_simulated_tables(monkeypatch):
    """A p-value of 199 simulated tables is as rarely at most 5 % as one of 1999: 10 ranks of 200 are."""
    if not is_everything():
        monkeypatch.setattr(estimate, "SIMULATIONS", 199)


def tables(name, *, dependent=False):
    """Independent columns, or such whose second row moves a part of the first column to the last."""
    records, privacy, adjacency, trust = CASES[name]
    random = np.random.default_rng(17)
    asked = ogive.Crosstab("r", "c", rows=(0, 1), columns=(0, 1, 2))
    for run in range(50 if dependent else TABLES):
        row, column = random.choice(2, records, p=ROW), random.choice(3, records, p=COLUMN)
        if dependent:
            column = np.where(row == 1, 2, column)
        holder, source = trust({"r": row, "c": column}), KeyedSource.from_seed(run)
        yield ogive.release(asked, trust=holder, privacy=privacy, adjacency=adjacency, source=source)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.everything] if name in LEFT else []) for name in CASES]
)
def test_the_level_is_held_and_the_test_that_ignores_noise_does_not_hold_it(name):
    rejected = usual = 0
    for found in tables(name):
        test = found.independence
        rejected += test is not None and test.p_value <= 0.05
        counts = np.maximum(found.raw, 0.5)
        usual += chi2_contingency(counts, correction=False).pvalue <= 0.05
    assert rejected <= MOST
    assert usual > CONTROL


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(("many", "reports"))])
def test_dependence_is_found(name):
    found = [each.independence for each in tables(name, dependent=True)]
    assert np.mean([test is not None and test.p_value <= 0.05 for test in found]) > 0.5


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("adjacency", "trust"),
    [
        pytest.param(adjacency, trust, id=f"{adjacency.value}-{trust.name}")
        # owners who report can be counted, so under ADD there is one who sees all records
        for adjacency, trust in ((ADD, ogive.Central), (REPLACE, ogive.Local), (REPLACE, ogive.Central))
    ],
)
def test_intervals_of_shares_and_of_two_risks_cover_the_population(adjacency, trust):
    """Of 100 releases fewer than 87 intervals of 95 % hold with probability about 0.0005, of 20 fewer than 15.

    The control is a quarter of the width.
    """
    random, held, narrow = np.random.default_rng(23), [], []
    asked = ogive.Crosstab("r", "c", rows=("a", "b"), columns=(0, 1))
    privacy = ogive.PureDP("0.3" if trust is ogive.Central else 1)
    for run in range(RUNS):
        row = random.choice(["a", "b"], 400, p=ROW)
        holder = trust({"r": row, "c": (random.random(400) < np.where(row == "a", 0.2, 0.4)).astype(int)})
        source = KeyedSource.from_seed(run)
        found = ogive.release(asked, trust=holder, privacy=privacy, adjacency=adjacency, source=source)
        shares, intervals = found.row_shares, found.row_share_intervals()
        wanted = [(truth, shares[row][1], intervals[row][1]) for row, truth in enumerate((0.2, 0.4))]
        wanted += [(0.12 / 0.28, found.column_shares[0][1], found.column_share_intervals()[0][1])]
        if found.compares_rows:
            for truth, told in (
                (-0.2, found.risk_difference()),
                (0.5, found.relative_risk()),
                (0.375, found.odds_ratio()),
            ):
                wanted.append((truth, told.value, told[1:]))
        held.append([low <= truth <= high for truth, _, (low, high) in wanted])
        narrow.append([abs(truth - value) <= (high - low) / 8 for truth, value, (low, high) in wanted])
    assert np.sum(held, axis=0).min() >= FEWEST
    assert np.sum(narrow, axis=0).min() < min(FEWEST, 0.75 * RUNS)


@pytest.mark.parametrize("adjacency", [REPLACE, ADD], ids=lambda each: each.value)
def test_intervals_hold_where_noise_is_larger_than_the_counts_and_leaves_some_rows_no_records(adjacency):
    """Of 100 releases fewer than 87 intervals of 95 % hold with probability about 0.0005, of 20 fewer than 15.

    The control, the intervals of the same integers taken for exact, must hold fewer than 75 times in 100.
    """
    random, held, usual, empty = np.random.default_rng(29), [], [], 0
    asked = ogive.Crosstab("r", "c", rows=("a", "b"), columns=(0, 1))
    for run in range(RUNS):
        row = random.choice(["a", "b"], 40)
        table = {"r": row, "c": (random.random(40) < np.where(row == "a", 0.2, 0.4)).astype(int)}
        exact = [[np.sum((row == name) & (table["c"] == value)) for value in (0, 1)] for name in "ab"]
        found = ogive.release(
            asked, trust=ogive.Central(table), privacy=ogive.PureDP("0.08"), adjacency=adjacency,
            source=KeyedSource.from_seed(run),
        )  # fmt: skip
        empty += any(np.isnan(share) for shares in found.row_shares for share in shares)
        told = [(-0.2, *found.risk_difference()[1:]), (0.5, *found.relative_risk()[1:])]
        told += [(0.375, *found.odds_ratio()[1:]), (0.4, *found.row_share_intervals()[1][1])]
        told += [(sum(exact[0]), *found.row_total_intervals()[0]), (exact[1][1], *found.count_intervals()[1][1])]
        held.append([low - 1e-9 <= truth <= high + 1e-9 for truth, low, high in told])
        bare = dataclasses.replace(found, measured=dataclasses.replace(found.measured, law=None))
        low, high = bare.risk_difference()[1:]
        usual.append(low <= -0.2 <= high)
    assert empty > RUNS / 5
    assert np.sum(held, axis=0).min() >= FEWEST
    assert np.sum(usual) < min(FEWEST, 0.75 * RUNS)

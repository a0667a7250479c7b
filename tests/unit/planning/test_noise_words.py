"""What a plan says of the noise is the noise alone, without the bias of methods that measure less."""

import re

import numpy as np
import pytest

import ogive

pytestmark = pytest.mark.usefixtures("fewer_shapes")

RECORDS = 3_000
STATISTIC = ogive.Ecdf("x", (-4, 4), bins=8)
PRIVACY = ogive.ApproxDP("0.5", "1e-6")


def said(row):
    return float(re.search(r"\+/- (\S+) records", row.noise)[1])


@pytest.mark.parametrize("adjacency", ogive.Adjacency)
def test_noise_is_told_without_bias(adjacency):
    rows = ogive.plan(STATISTIC, privacy=PRIVACY, records=RECORDS, adjacency=adjacency).rows
    table = {"x": np.linspace(-4, 4, RECORDS)}
    biased = 0
    for row in rows:
        if row.method in ("adaptive", "selected"):
            continue
        curve = ogive.release(
            ogive.Ecdf("x", (-4, 4), bins=8, method=row.method, expected_records=RECORDS),
            trust=ogive.Central(table),
            privacy=PRIVACY,
            adjacency=adjacency,
        )
        variance = curve.strategy.variance(total_known=adjacency is ogive.Adjacency.REPLACE)
        assert said(row) == pytest.approx(np.sqrt(variance.mean()), rel=0.01)
        biased += row.rmse * RECORDS > 1.5 * said(row)
    assert biased >= 1


def test_noise_of_adaptive_quantiles_is_that_of_a_count():
    (row,) = (r for r in ogive.plan(STATISTIC, privacy=PRIVACY, records=RECORDS).rows if r.method == "adaptive")
    curve = ogive.ecdf(np.linspace(-4, 4, RECORDS), bounds=(-4, 4), bins=8, privacy=PRIVACY, method="adaptive")
    sums = int(re.search(r"on (\d+) sums", row.noise)[1])
    assert sums == len(curve.strategy.points)
    assert said(row) == pytest.approx(np.sqrt(curve.strategy.variance(total_known=True).max()), rel=0.01)


def test_a_single_bin_has_no_error_and_says_so_in_plain_numbers():
    statistic = ogive.Ecdf("x", (-4, 4), bins=1)
    plan = ogive.plan(statistic, privacy=ogive.PureDP("0.5"), records=RECORDS)
    assert {row.errors["energy"] for row in plan.rows} == {0.0}
    assert " -0" not in str(plan)
    assert "e-150" not in str(plan)
    curve = ogive.ecdf(np.zeros(50), bounds=(-4, 4), bins=1, privacy=ogive.PureDP("0.5"))
    assert curve(4.0) == 1

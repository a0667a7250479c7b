"""Private selection asks nothing of the records where the curve could not be smoothed as wanted."""

import pytest

import ogive


@pytest.mark.parametrize("smooth", ["shrinkage", "least_squares"])
def test_a_smoothing_that_some_candidate_lacks_is_refused_before_the_selection(smooth, tmp_path):
    unit = ogive.PrivacyUnit(ogive.Adjacency.REPLACE)
    account = ogive.Ledger.open(tmp_path / "ledger.db").account("x", unit=unit, limit=ogive.PureDP(1))
    statistic = ogive.Ecdf("x", (0, 1), bins=64, method="selected", smooth=smooth)
    with pytest.raises(ogive.UnsupportedError, match="smooth"):
        ogive.release(statistic, trust=ogive.Central({"x": [0.1, 0.7] * 500}), privacy=ogive.PureDP(1), ledger=account)
    assert account.spent is None
    assert account.history == ()

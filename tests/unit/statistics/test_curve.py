import datetime
import math

import numpy as np
import pytest
import scipy.stats
from helpers.curves import PROVENANCE, any_curve, exact_curve, noisy_curve
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ogive
from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.privacy import Adjacency
from ogive.statistics.curve.estimate import Curve

GRID = Grid.integers(0, 20)
VALUES = np.random.default_rng(3).binomial(20, 0.4, size=500).astype(float)


@given(any_curve())
def test_probabilities_are_a_distribution_function(curve):
    values = curve.probabilities
    assert np.all(np.diff(values) >= 0)
    assert values[0] >= 0
    assert values[-1] == 1
    assert curve.defined == (curve.records > 0)


@given(any_curve(), st.lists(st.floats(0, 1), max_size=5))
def test_inverse_and_curve_are_adjoint(curve, shares):
    back = [curve.grid.number(t) for t in curve.quantile(curve.probabilities)]
    assert np.all(back <= curve.thresholds)
    for share in shares:
        first = np.flatnonzero(curve.probabilities >= share)[0]
        assert curve.quantile(share) == curve.labels[first]
        assert curve(curve.quantile(share)) >= share


@given(any_curve(), st.floats(allow_nan=False))
def test_curve_is_a_right_continuous_step_function(curve, t):
    whole = curve.grid.unit != "number"  # days and microseconds: nothing lies between them
    jumps = [math.floor(tau) if whole else tau for tau in curve.thresholds]
    below = [p for tau, p in zip(jumps, curve.probabilities, strict=True) if tau <= t]
    assert curve.evaluate(t) == (below[-1] if below else 0)
    assert curve.survival(t) == 1 - curve.evaluate(t)
    beyond = np.nextafter(curve.thresholds, np.inf)
    assert np.array_equal(curve.evaluate(beyond), curve.probabilities)


def test_agrees_with_scipy_when_nothing_is_added():
    curve = exact_curve(VALUES, GRID)
    theirs = scipy.stats.ecdf(VALUES)
    points = np.linspace(-2, 23, 101)
    assert np.allclose(curve.evaluate(points), theirs.cdf.evaluate(points), atol=1e-15)
    assert np.allclose(curve.cdf.evaluate(points), theirs.cdf.evaluate(points), atol=1e-15)
    assert np.allclose(curve.sf.evaluate(points), theirs.sf.evaluate(points), atol=1e-15)
    seen = np.isin(curve.cdf.quantiles, theirs.cdf.quantiles)
    assert np.allclose(curve.cdf.probabilities[seen], theirs.cdf.probabilities, atol=1e-15)
    for p in (0, 0.1, 0.5, 0.98, 1):
        wanted = np.quantile(VALUES, p, method="inverted_cdf") if p else 0
        assert curve.quantile(p) == wanted


def test_scipy_shaped_intervals_hold_the_true_functions_between_thresholds_too():
    values = np.random.default_rng(0).normal(50, 15, size=4000)
    curve = noisy_curve(values, Grid.linear(0, 100, bins=16), seed=1)
    points = np.linspace(1, 99, 199)
    truth = np.searchsorted(np.sort(values), points, side="right") / len(values)
    for function, wanted in ((curve.cdf, truth), (curve.sf, 1 - truth)):
        interval = function.confidence_interval(0.95, target="sample")
        assert np.all(interval.low.evaluate(points) <= wanted)
        assert np.all(wanted <= interval.high.evaluate(points))
        assert np.all(interval.low.probabilities <= interval.high.probabilities)


def test_scalars_give_scalars_and_arrays_keep_their_shape():
    curve = exact_curve(VALUES, GRID)
    assert isinstance(curve(3), float)
    assert isinstance(curve.quantile(0.5), float)
    assert isinstance(curve.standard_error(3), float)
    assert curve(np.zeros((2, 3))).shape == (2, 3)
    assert curve.quantile([[0.1, 0.2]]).shape == (1, 2)
    assert curve([]).shape == (0,)
    assert curve(math.inf) == 1
    assert curve(-math.inf) == 0


def test_dates_are_understood_and_returned():
    grid = Grid.integers("2024-01-01", "2024-01-31")
    curve = exact_curve(grid.thresholds, grid)
    day = datetime.date(2024, 1, 10)
    assert curve(day) == curve("2024-01-10") == curve(np.datetime64("2024-01-10")) == pytest.approx(10 / 31)
    assert np.allclose(curve(np.array(["2024-01-10", "2023-12-31"], dtype="datetime64[s]")), [10 / 31, 0])
    assert curve.quantile(10 / 31) == day
    assert curve.quantile([10 / 31, 1]).tolist() == [day, datetime.date(2024, 1, 31)]
    assert curve.labels[0] == datetime.date(2024, 1, 1)
    low, high = curve.quantile_interval(0.5, target="sample")
    assert low == high == datetime.date(2024, 1, 16)
    assert curve.mean() == datetime.date(2024, 1, 16)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: c(math.nan), "NaN"),
        (lambda c: c("spam"), "number or an ISO date"),
        (lambda c: c(datetime.date(2024, 1, 1)), "is a date, but the grid holds numbers"),
        (lambda c: c(np.datetime64("NaT")), "number"),
        (lambda c: c.quantile(1.1), "between 0 and 1"),
        (lambda c: c.quantile(math.nan), "between 0 and 1"),
        (lambda c: c.quantile("half"), "between 0 and 1"),
        (lambda c: c.band(1.0), "confidence_level"),
        (lambda c: c.band(target="sampel"), "target must be one of population, sample, approximation"),
        (lambda c: c.standard_error(1, target="all"), "population or sample"),
        (lambda c: c.sample(-1), "at least 0"),
        (lambda c: c.to_frame("spark"), "backend must be one of"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(call, words):
    with pytest.raises(ParameterError, match=words) as caught:
        call(exact_curve(VALUES, GRID))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cumulative": [1.0, 2.0]}, "must hold 3 numbers"),
        ({"cumulative": [1.0, 3.0, 2.0]}, "must not decrease"),
        ({"cumulative": [-1.0, 1.0, 2.0]}, "at least 0"),
        ({"raw": [0.0, math.nan, 1.0]}, "finite"),
        ({"total": -1}, "number of records"),
    ],
)
def test_an_invalid_curve_cannot_be_made(changes, words):
    fields = {"cumulative": [1.0, 2.0, 3.0], "raw": [1.0, 2.0, 3.0], "total": None, **changes}
    with pytest.raises(ParameterError, match=words):
        Curve(
            grid=Grid.integers(1, 3),
            strategy=None,
            adjacency=Adjacency.ADD_OR_REMOVE,
            smoothing="none",
            column="x",
            **fields,
        )


@pytest.mark.parametrize("total", [None, 0])
def test_a_curve_without_records_is_valid_and_says_so(total):
    zeros = np.zeros(GRID.bins)
    noisy = noisy_curve(VALUES, GRID, total=total is not None)
    curve = Curve(GRID, zeros, zeros - 5, noisy.strategy, noisy.adjacency, total, "none", "x")
    assert not curve.defined
    assert curve(19) == 0
    assert curve(20) == 1
    assert curve.quantile(0.5) == 20
    assert math.isinf(curve.rmse())
    assert math.isinf(curve.standard_error(3))
    assert "not defined" in str(curve)
    assert "not defined" in curve._repr_html_()
    band = curve.band(simulations=199)
    assert np.all(band.low[:-1] == 0)
    assert np.all(band.high == 1)
    assert np.array_equal(curve.histogram().counts, zeros)


def test_rounding_of_the_smoothing_is_repaired():
    counts = np.array([1, 1 - 1e-9, 2])
    curve = Curve(Grid.integers(1, 3), counts, counts, None, Adjacency.REPLACE, 2, "none", "x")
    assert np.all(np.diff(curve.cumulative) >= 0)


def test_arrays_of_a_curve_cannot_be_changed():
    curve = exact_curve(VALUES, GRID)
    for values in (curve.raw, curve.cumulative, curve.probabilities, curve.thresholds, curve.band().low):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 7


def test_curves_are_equal_by_value():
    assert noisy_curve(VALUES, GRID) == noisy_curve(VALUES, GRID)
    assert hash(noisy_curve(VALUES, GRID)) == hash(noisy_curve(VALUES, GRID))
    assert noisy_curve(VALUES, GRID) != noisy_curve(VALUES, GRID, seed=1)
    assert noisy_curve(VALUES, GRID) != noisy_curve(VALUES, GRID).with_provenance(PROVENANCE)
    assert noisy_curve(VALUES, GRID) != "curve"


def test_provenance_learns_the_public_number_of_records():
    assert noisy_curve(VALUES, GRID).with_provenance(PROVENANCE).provenance.total == 500
    assert noisy_curve(VALUES, GRID, total=False).with_provenance(PROVENANCE).provenance.total is None


@pytest.mark.parametrize("show", [str, repr, Curve._repr_html_])
def test_everything_that_shows_an_exact_curve_says_not_private(show):
    assert "not private" in show(exact_curve(VALUES, GRID))
    assert "not private" not in show(noisy_curve(VALUES, GRID))


def test_html_escapes_the_column():
    text = noisy_curve(VALUES, GRID, column="<script>").with_provenance(PROVENANCE)._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_summary_names_guarantee_error_and_quantiles():
    text = str(noisy_curve(VALUES, GRID).with_provenance(PROVENANCE))
    for words in ("epsilon = 4/3", "one record replaced", "500 (public)", "path", "50% at 8", "The curator saw"):
        assert words in text


@pytest.mark.parametrize("backend", [None, "pandas", "polars", "pyarrow"])
def test_frames_hold_thresholds_counts_and_shares(backend):
    curve = exact_curve(VALUES, GRID)
    frame = curve.to_frame(backend)
    columns = {name: list(np.asarray(frame[name])) for name in ("threshold", "count", "share")}
    assert columns["threshold"] == list(range(21))
    assert columns["share"] == curve.probabilities.tolist()
    assert columns["count"] == curve.cumulative.tolist()


@pytest.mark.parametrize("total", [True, False])
def test_predicted_error_is_the_error(total):
    # 600 noisy curves: their root mean square varies by about 3 percent; 12 percent is beyond chance
    curve = noisy_curve(VALUES, GRID, total=total)
    errors = np.array([noisy_curve(VALUES, GRID, total=total, seed=s).raw for s in range(600)]) / 500
    errors -= exact_curve(VALUES, GRID).probabilities
    exact = Curve(
        GRID, exact_curve(VALUES, GRID).cumulative, curve.raw, curve.strategy, curve.adjacency, curve.total, "", ""
    )
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(exact.rmse(), rel=0.12)
    assert np.std(errors[:, 6]) == pytest.approx(exact.standard_error(6, target="sample"), rel=0.12)
    share = exact(6)
    sampling = share * (1 - share) / 500
    assert exact.standard_error(6) ** 2 == pytest.approx(exact.standard_error(6, target="sample") ** 2 + sampling)


@settings(deadline=None, max_examples=40)
@given(any_curve(), st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_quantile_intervals_are_ordered_and_grow_with_confidence(curve, shares):
    number = np.vectorize(curve.grid.number, otypes=[float])
    if curve.strategy is not None:
        band = curve.band(0.5, simulations=199)
        reached = np.maximum.accumulate(band.low)
        assume(np.all(reached <= np.minimum.accumulate(band.high[::-1])[::-1]))  # else the band holds no curve
    low, high = (number(end) for end in curve.quantile_interval(shares, 0.5))
    wide_low, wide_high = (number(end) for end in curve.quantile_interval(shares, 0.9))
    assert np.all(wide_low <= low)
    assert np.all(low <= high)
    assert np.all(high <= wide_high)


def test_quantile_interval_holds_the_true_quantiles_of_the_values_before_binning():
    values = np.random.default_rng(5).gamma(4, 10, size=3000)
    shares = np.linspace(0.02, 0.98, 49)
    truth = np.quantile(values, shares, method="inverted_cdf")
    missed = 0
    for seed in range(100):
        curve = noisy_curve(values, Grid.linear(0, 150, bins=16), epsilon=0.5, seed=seed)
        low, high = curve.quantile_interval(shares, 0.9, target="sample")
        missed += not np.all((low <= truth) & (truth <= high))
    assert missed <= 21  # binomial(100, 0.1) exceeds it with probability below 0.0003


def test_a_curve_has_no_value_at_what_is_missing():
    days = np.arange("2024-01-01", "2024-02-01", dtype="datetime64[D]")
    dates = ogive.ecdf(days, bounds=("2024-01-01", "2024-02-01"), privacy=ogive.PureDP(1))
    numbers = ogive.ecdf(np.arange(30.0), bounds=(0, 30), privacy=ogive.PureDP(1))
    assert dates(days[3:5]).shape == (2,)
    for curve, places, words in (
        (dates, [days[3], np.datetime64("NaT")], "at a missing date"),
        (numbers, [3.0, np.nan], "at NaN"),
    ):
        with pytest.raises(ogive.ParameterError, match=words):
            curve(np.array(places))

"""The band that narrows in the tails: its parts against slow ones, its coverage with a control, and its refusals."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from helpers.coverage import fewest
from helpers.scope import is_everything, size
from scipy import stats

import ogive
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.statistics import confidence
from ogive.statistics.curve import bands as narrowing

RELEASES, RECORDS, BINS = size(150, part=20), 2_000, 64
FEWEST = fewest(RELEASES, chance=0.001)
SPIKES = np.array([12.0, 25.0, 50.0, 51.0, 90.0])
SHAPES = {
    "lognormal": (lambda rng: rng.lognormal(3, 0.6, RECORDS), lambda t: stats.lognorm.cdf(t, 0.6, scale=np.exp(3))),
    "spikes": (lambda rng: rng.choice(SPIKES, RECORDS), lambda t: np.searchsorted(SPIKES, t, side="right") / 5),
    "one value": (lambda rng: np.full(RECORDS, 40.0), lambda t: (t >= 40) * 1.0),
}


@pytest.fixture
def coarse(monkeypatch):
    """Few cells and simulations: a wider band, computed faster."""
    monkeypatch.setattr(narrowing, "_CELLS", 256)
    monkeypatch.setattr(narrowing, "NARROWING_SIMULATIONS", 499)
    monkeypatch.setattr(narrowing, "_sampled", type(narrowing._sampled)())


@pytest.fixture(scope="module")
def kept():
    """Simulations of the shapes, which have as many records."""
    return type(narrowing._sampled)()


def released(values, number=0, epsilon=1, **options):
    return ogive.release(
        ogive.Ecdf("x", (0, 100), **{"bins": BINS, "method": "hat_ls"} | options),
        trust=ogive.Central({"x": values}),
        privacy=ogive.PureDP(epsilon),
        source=KeyedSource(number.to_bytes(32, "big")),
    )


@pytest.mark.slow
@pytest.mark.distribution
@pytest.mark.parametrize(
    "shape", [pytest.param(each, marks=pytest.mark.everything if each == "spikes" else ()) for each in SHAPES]
)
def test_it_holds_the_whole_population_curve_as_often_as_it_says(shape, coarse, kept, monkeypatch):
    """At least `FEWEST` of 150 or 20; the control, a band of 0.6 of its width, must fall short on spread values.

    A true level of 95 % gives fewer with probability below 1 in 1000.
    """
    if not is_everything():  # as many as this level needs, and so kept
        monkeypatch.setattr(narrowing, "NARROWING_SIMULATIONS", 889)
    monkeypatch.setattr(narrowing, "_sampled", kept)
    draw, cdf = SHAPES[shape]
    rng = np.random.default_rng(sum(map(ord, shape)))
    hits = shrunk = 0
    for number in range(RELEASES):
        curve = released(draw(rng), number)
        truth = cdf(curve.thresholds)
        truth[-1] = 1.0
        band = curve.band(width="narrowing")
        hits += bool(np.all((band.low <= truth + 1e-12) & (truth <= band.high + 1e-12)))
        middle, half = (band.high + band.low) / 2, 0.6 * (band.high - band.low) / 2
        shrunk += bool(np.all(np.abs(truth - middle) <= half + 1e-12))
    assert hits >= FEWEST
    assert shrunk < FEWEST or shape == "one value"


def test_it_is_narrower_in_the_tails_and_hardly_wider_in_the_middle(monkeypatch):
    if not is_everything():
        monkeypatch.setattr(narrowing, "NARROWING_SIMULATIONS", 889)
        monkeypatch.setattr(narrowing, "_sampled", type(narrowing._sampled)())
    curve = released(np.random.default_rng(1).normal(50, 10, 20_000), bins=256)
    even, narrow = curve.band(), curve.band(width="narrowing")
    tail, middle = np.searchsorted(curve.thresholds, (20, 50))
    ratio = ((narrow.high - narrow.low) / np.maximum(even.high - even.low, 1e-9))[:-1]
    assert ratio[tail] < 0.6
    assert ratio[middle] < 1.12
    assert ratio.mean() < 0.8
    assert (narrow.low <= narrow.high).all()
    assert (np.diff(narrow.low) >= 0).all()
    assert (np.diff(narrow.high) >= 0).all()
    assert (narrow.low[-1], narrow.high[-1]) == (1, 1)
    assert curve.band(width="narrowing") is narrow


def test_range_maxima_are_those_of_every_range():
    random = np.random.default_rng(3)
    values = random.normal(size=(5, 40))
    first = random.integers(0, 40, 300)
    last = np.minimum(first + random.integers(0, 40, 300), 39)
    slow = np.array([[row[a : b + 1].max() for a, b in zip(first, last, strict=True)] for row in values])
    assert np.array_equal(narrowing._range_maxima(values, first, last), slow)


@pytest.mark.parametrize("n", [10, 1000, 100_000])
def test_ends_solve_the_inequality(n):
    """Against a scan of u in steps of 1e-5."""
    random = np.random.default_rng(n)
    shares, flat = random.uniform(0, 1, 50), random.uniform(0.01, 0.2, 50) / n
    above, below = 3.1, 2.7
    low, high = narrowing._solved(shares, flat, n, above, below)
    u = np.linspace(0, 1, 100_001)
    for share, part, bottom, top in zip(shares, flat, low, high, strict=True):
        scale = np.sqrt(part + u * (1 - u) / n)
        left = u[(share - u <= above * scale) & (u <= share)]
        right = u[(u - share <= below * scale) & (u >= share)]
        assert np.clip(bottom, 0, 1) == pytest.approx(left.min(), abs=2e-5)
        assert np.clip(top, 0, 1) == pytest.approx(right.max(), abs=2e-5)


def test_estimates_out_of_range_leave_out_no_share_that_is_allowed():
    """The least and the largest u that a scan allows, where noise took the estimate out of [0, 1]."""
    random = np.random.default_rng(5)
    u = np.linspace(0, 1, 2001)
    crossed = 0
    for _ in range(3000):
        n = int(10 ** random.uniform(0, 6))
        share = random.choice([random.uniform(-0.5, 0), random.uniform(1, 1.5)])
        flat, (above, below) = (random.uniform(0, 1) ** 4 + 1e-9), random.uniform(0, 5, 2)
        ((low,), (high,)) = narrowing._solved(np.array([share]), np.array([flat]), n, above, below)
        scale = np.sqrt(flat + u * (1 - u) / n)
        allowed = u[(share - u <= above * scale) & (u - share <= below * scale)]
        if not len(allowed):
            crossed += max(low, 0) > min(high, 1)
            continue
        assert low <= allowed[0] + 1e-9
        assert high >= allowed[-1] - 1e-9
        inner = allowed[0] if share > 1 else allowed[-1]
        assert np.clip(low if share > 1 else high, 0, 1) == pytest.approx(inner, abs=1e-3)
    assert crossed > 100


def test_simulations_beyond_the_usual_are_drawn_in_batches_and_not_kept(coarse):
    usual = np.concatenate(list(narrowing._sampling_errors(50, narrowing.NARROWING_SIMULATIONS, 64)))
    assert list(narrowing._sampled) == [(50, narrowing.NARROWING_SIMULATIONS)]
    runs, step = 4 * narrowing.NARROWING_SIMULATIONS, 64
    tracemalloc.start()
    drawn = np.zeros((runs, narrowing._CELLS + 1), dtype=np.float32)
    for number, batch in enumerate(narrowing._sampling_errors(50, runs, step)):
        drawn[number * step : number * step + len(batch)] = batch
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1.5 * drawn.nbytes, "all runs are in memory once here, and not once more there"
    assert np.array_equal(drawn[: len(usual)], usual)
    assert np.abs(drawn[len(usual) :]).max(axis=1).min() > 0
    assert list(narrowing._sampled) == [(50, narrowing.NARROWING_SIMULATIONS)]


def test_levels_that_would_take_too_long_are_refused_with_one_that_does_not(coarse, monkeypatch):
    curve = released(np.random.default_rng(1).normal(50, 10, 2000))
    with pytest.raises(ParameterError, match=r"must be at most 0.9997, beyond .* got 0.9999; use width='even'"):
        curve.band(0.9999, width="narrowing")
    assert narrowing._runs(Fraction(3, 10_000)) == 148_149
    monkeypatch.setattr(narrowing, "MOST_RUNS", 1000)
    reported = []
    band = curve.band(0.95, width="narrowing", simulations=2000, progress=lambda *done: reported.append(done))
    assert band.confidence_level == 0.95
    assert reported[-1] == (2000, 2000)
    monkeypatch.setattr(confidence, "MOST_VALUES", 1000)
    with pytest.raises(ParameterError, match=r"at most 0.9979 on this many thresholds, got 0.999; use fewer bins"):
        curve.band(0.999, width="narrowing", simulations=2000)


@pytest.mark.parametrize("records", [300, 20_000])
def test_cells_bound_what_a_sample_strays_between_their_ends(records, coarse):
    """Quantiles of the largest error of uniform numbers at any u of a range, not only at ends of cells."""
    random = np.random.default_rng(8)
    cells, runs = narrowing._CELLS, 400
    first, last = np.array([0, 100, 37, 255]), np.array([2, 179, 37, 255])
    real, errors = np.empty((2, runs, len(first))), np.empty((runs, cells + 1))
    for run in range(runs):
        sample = np.sort(random.random(records))
        counts = np.bincount((sample * cells).astype(int), minlength=cells)
        errors[run] = np.append(0, np.cumsum(counts) / records - np.arange(1, cells + 1) / cells)
        for which, (a, b) in enumerate(zip(first / cells, (last + 1) / cells, strict=True)):
            inside = sample[(sample >= a) & (sample <= b)]
            at = np.concatenate([inside, [a, b]])
            real[0, run, which] = (np.searchsorted(sample, at, side="right") / records - at).max()
            real[1, run, which] = (at - np.searchsorted(sample, at, side="left") / records).max()
    bounds = narrowing._within_cells(errors, records, random)
    short = 0
    for side, (bound, ends) in enumerate(zip(bounds, (errors, -errors), strict=True)):
        most = narrowing._range_maxima(bound, first, last)
        at_ends = narrowing._range_maxima(ends, first, last + 1)
        for level in (0.5, 0.9, 0.98):
            found = np.quantile(real[side], level, axis=0)
            slack = 0.03 * np.abs(found) + 1e-12
            # the bound is on the law, not on each sample, so quantiles of 400 samples may be a little short
            assert (np.quantile(most, level, axis=0) >= found - slack).all()
            short += int((np.quantile(at_ends, level, axis=0) < found - slack).sum())
    assert short > 3, "control: the errors at ends of cells alone fall short"


@pytest.mark.parametrize("count", [1, 2, 5, 50])
def test_records_of_a_cell_stray_at_least_as_far_as_uniform_numbers(count, monkeypatch):
    """The exact law of the one-sided Kolmogorov-Smirnov distance; the control, 0.85 of the bound, falls short."""
    monkeypatch.setattr(narrowing, "_CELLS", 1)
    runs = 100_000
    random = np.random.default_rng(count)
    for bound in narrowing._within_cells(np.zeros((runs, 2)), count, random):
        x = np.linspace(0.05, 0.95, 19) / np.sqrt(count)
        exact = stats.ksone.sf(x, count)
        error = 4 * np.sqrt(exact * (1 - exact) / runs) + 1e-5
        assert ((bound > x).mean(axis=0) >= exact - error).all()
        assert ((0.85 * bound > x).mean(axis=0) < exact - error).any()


def test_sampling_errors_have_the_variance_of_uniform_numbers(coarse):
    for n in (50, 1 << 17):
        errors = np.concatenate(list(narrowing._sampling_errors(n, 2000, 300))).astype(float)
        u = np.array([0.1, 0.5, 0.9])
        found = (errors[:, (u * narrowing._CELLS).astype(int)] ** 2).mean(axis=0)
        exact = np.floor(u * narrowing._CELLS) / narrowing._CELLS
        assert found == pytest.approx(exact * (1 - exact) / n, rel=6 * np.sqrt(2 / 2000))
        assert (errors[:, 0] == 0).all()
        assert np.abs(errors[:, -1]).max() < 1e-6


@pytest.mark.parametrize("count", [1, 2, 30])
def test_few_records_have_a_wide_band(count, coarse):
    band = released(np.linspace(10, 90, count)).band(width="narrowing")
    assert np.all((band.low >= 0) & (band.low <= band.high) & (band.high <= 1))
    assert band.half_width > 0.2


def test_exact_curves_have_one_too(coarse):
    curve = ogive.release(
        ogive.Ecdf("x", (0, 100), bins=BINS),
        trust=ogive.Clear({"x": stats.norm.ppf(np.arange(0.5, 20_000) / 20_000, 50, 10)}),
    )
    narrow, even = curve.band(width="narrowing"), curve.band()
    assert (narrow.high - narrow.low).mean() < (even.high - even.low).mean()


@pytest.mark.everything
def test_higher_levels_are_wider(coarse):
    curve = released(np.random.default_rng(1).normal(50, 10, 2000))
    bands = [curve.band(level, width="narrowing") for level in (0.8, 0.999)]
    widths = [(band.high - band.low).mean() for band in bands]
    assert widths[0] < widths[1]


def test_what_has_no_narrowing_band_is_refused_in_a_line():
    values = np.random.default_rng(1).normal(50, 10, 500)
    curve = released(values)
    with pytest.raises(UnsupportedError, match="not known for the sample, which has no sampling error"):
        curve.band(target="sample", width="narrowing")
    with pytest.raises(UnsupportedError, match="where a person may have several rows"):
        curve.band(rows_per_person=2, width="narrowing")
    with pytest.raises(UnsupportedError, match="for method projection, whose estimate has a bias"):
        released(values, method="projection").band(width="narrowing")
    with pytest.raises(ParameterError, match="width"):
        curve.band(width="narrow")
    private = ogive.release(
        ogive.Ecdf("x", (0, 100), bins=BINS),
        trust=ogive.Central({"x": values}),
        privacy=ogive.PureDP(1),
        adjacency=ogive.Adjacency.ADD_OR_REMOVE,
    )
    with pytest.raises(UnsupportedError, match="where the number of records is private"):
        private.band(width="narrowing")
    assert Fraction(1, 10) == narrowing.FIRST

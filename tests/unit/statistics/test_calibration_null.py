"""The p-value is uniform where the model is right, whatever the noise, and small where it is wrong.

Level: 400 whole releases (35 in `make test`), each of fresh records with fresh noise; Kolmogorov and Smirnov's test of
their p-values against the uniform law must stay above 1e-3, with fixed seeds. The same test must reject (below 1e-9)
the chi-square p-values of the same releases, and a bootstrap that leaves the noise out.
"""

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size as runs_of
from scipy import stats

from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.releasing.release import release
from ogive.statistics.calibration import sums as module
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.calibration.statistic import HosmerLemeshow
from ogive.statistics.calibration.sums import (
    SMALLEST_P_VALUE,
    Measured,
    Moments,
    Sums,
    Within,
    bootstrap_p_value,
    computed_p_value,
    share_intervals,
    statistic,
)
from ogive.trust import Central

LEVEL, CONTROL = 1e-3, 1e-9
RELEASES = runs_of(400, part=35)


SMALL = Measured("difference", 20, DiscreteLaplace(Fraction(2 << 20)), DiscreteLaplace(Fraction(3 << 20)))
GAUSSIAN = Measured("difference", 20, DiscreteGaussian(Fraction(2 << 20)), DiscreteGaussian(Fraction(3 << 20)))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(module, "TESTED", 299)


def releases(count, *, records, privacy, adjacency=Adjacency.REPLACE, truth=lambda p: p, **fields):
    """Releases of fresh records, whose labels have the chances `truth(p)`."""
    rng = np.random.default_rng(20)
    source = KeyedSource.from_seed(21)
    statistic = HosmerLemeshow("p", "y", bins=64, **fields)
    for _ in range(count):
        p = rng.beta(1, 6, size=records)
        trust = Central({"p": p, "y": (rng.random(records) < truth(p)).astype(int)})
        yield release(statistic, trust=trust, privacy=privacy, adjacency=adjacency, source=source)


def uniform(values):
    return stats.kstest(values, "uniform").pvalue


@pytest.mark.parametrize(
    ("records", "privacy", "adjacency", "fields"),
    [
        pytest.param(2000, PureDP(1), Adjacency.REPLACE, {}, id="epsilon-1"),
        pytest.param(4000, PureDP("0.1"), Adjacency.REPLACE, {}, id="epsilon-0.1", marks=pytest.mark.everything),
        pytest.param(2000, PureDP(1), Adjacency.REPLACE, {"form": "counts"}, id="counts"),
        pytest.param(2000, ZeroConcentratedDP("0.05"), Adjacency.ADD_OR_REMOVE, {}, id="gaussian-private-total"),
    ],
)
def test_p_values_are_uniform_for_a_right_model_and_those_that_ignore_noise_are_not(
    records, privacy, adjacency, fields
):
    found = list(releases(RELEASES, records=records, privacy=privacy, adjacency=adjacency, **fields))
    assert uniform([fit.p_value for fit in found]) > LEVEL
    assert uniform([fit.chi_square_p_value for fit in found]) < CONTROL
    silent = []
    for fit in found:
        measured = Measured(fit.measured.form, fit.measured.bits, None, None)
        within = Within.of(fit.curve, fit.bounds.thresholds)
        silent.append(
            bootstrap_p_value(fit.statistic, fit.sums, within, measured, total=fit.total, floor=1.0, simulations=99)
        )
    assert uniform(silent) < CONTROL


def test_p_values_are_uniform_where_noise_is_small_and_then_chi_square_will_do():
    found = list(releases(RELEASES, records=3000, privacy=PureDP(30)))
    assert uniform([fit.p_value for fit in found]) > LEVEL
    assert uniform([fit.chi_square_p_value for fit in found]) > LEVEL


def test_a_wrong_model_is_found_out():
    """Chances squared: found at the 5 % level in at least 18 of 20 releases of 4000 records at epsilon 1."""
    found = releases(20, records=4000, privacy=PureDP(1), truth=lambda p: 2 * p**1.5)
    assert sum(fit.p_value <= 0.05 for fit in found) >= 18


def test_the_bootstrap_uses_the_spread_within_groups():
    """Control: binomial labels at the group's mean vary more than a right model's where groups are wide."""
    rng = np.random.default_rng(3)
    size = 60_000
    measured = Measured("difference", 20, None, None)
    sums = Sums(np.full((2, 1), size / 2), np.zeros((2, 1)))
    spread = Within(*(np.array([value]) for value in (0.0, 1.0, 0.5, 0.45**2)), np.zeros((2, 1)))
    flat = dataclasses.replace(spread, spread=np.zeros(1))
    right, binomial = [], []
    for gap in rng.binomial(size // 2, (0.05, 0.95), size=(400, 2)).sum(axis=1) - size / 2:
        observed = float(statistic(np.array([[-gap], [gap]]), sums.expected, 1.0))
        for within, into in ((spread, right), (flat, binomial)):
            into.append(bootstrap_p_value(observed, sums, within, measured, total=size, floor=1.0, simulations=999))
    assert uniform(right) > LEVEL
    assert uniform(binomial) < CONTROL


def test_the_p_value_is_a_rank_among_the_simulated():
    within = Within(*(np.array([value]) for value in (0.0, 1.0, 0.5, 0.0)), np.zeros((2, 1)))
    sums = Sums(np.array([[50.0], [50.0]]), np.zeros((2, 1)))
    measured = Measured("difference", 20, None, None)

    def p_value(observed):
        return bootstrap_p_value(observed, sums, within, measured, total=100, floor=1.0, simulations=999)

    assert p_value(0.0) == 1
    assert p_value(1e6) == 1 / 1000
    assert p_value(1.0) == p_value(1.0)  # D = 5: P(|B(100, 1/2) - 50| >= 5) = 0.368
    assert p_value(1.0) == pytest.approx(2 * stats.binom.sf(54, 100, 0.5), abs=0.05)


@pytest.mark.parametrize("measured", [SMALL, GAUSSIAN], ids=["laplace", "gaussian"])
def test_a_computed_p_value_is_the_tail_of_its_law(measured):
    """One group: |D| beyond a distance, by the sum over all counts, and ten as often as in simulations."""
    law = stats.laplace if measured is SMALL else stats.norm
    within = Within(*(np.array([value]) for value in (0.0, 1.0, 0.2, 0.0)), np.zeros((2, 1)))
    sums = Sums(np.array([[160.0], [40.0]]), np.zeros((2, 1)))
    counts = np.arange(201)
    for far in (8, 20, 40, 60):
        masses = stats.binom.pmf(counts, 200, 0.2)
        exact = sum(masses @ law.sf((far - way * (counts - 40)) / 3) for way in (1, -1))
        computed = computed_p_value(far**2 * (1 / 160 + 1 / 40), sums, within, measured, floor=1.0)
        assert computed == pytest.approx(exact, rel=0.03)
    assert computed < 1e-5
    assert computed_p_value(1e6, sums, within, measured, floor=1.0) == SMALLEST_P_VALUE
    means = np.linspace(0.05, 0.4, 10)
    within = Within(means - 0.01, means + 0.01, means, np.full(10, 1e-4), np.zeros((2, 10)))
    sums = Sums(np.stack([200 * (1 - means), 200 * means]), np.zeros((2, 10)))
    for observed in (10.0, 25.0):
        asked = observed, sums, within, measured
        simulated = bootstrap_p_value(*asked, total=2000, floor=1.0, simulations=9999)
        assert computed_p_value(*asked, floor=1.0) == pytest.approx(simulated, abs=5 * np.sqrt(simulated / 9999))


def test_a_computed_p_value_without_noise_is_exact():
    """Two groups of 40 and 60 records, by enumeration of both binomials."""
    within = Within(*(np.array(pair) for pair in ((0, 0.3), (0.3, 1), (0.25, 0.5), (0, 0))), np.zeros((2, 2)))
    sums = Sums(np.array([[30.0, 30.0], [10.0, 30.0]]), np.zeros((2, 2)))
    (one, other), weights = (np.arange(41), np.arange(61)), np.sum(1 / sums.expected, axis=0)
    terms = weights[0] * (one[:, None] - 10) ** 2 + weights[1] * (other - 30) ** 2
    masses = stats.binom.pmf(one, 40, 0.25)[:, None] * stats.binom.pmf(other, 60, 0.5)
    clear = Measured("difference", 20, None, None)
    for observed in (1.0, 4.0, 12.0, 40.0):
        exact = masses[terms >= observed - 1e-9].sum()
        assert computed_p_value(observed, sums, within, clear, floor=1.0) == pytest.approx(exact, rel=0.02)


# Intervals


def covered(fit, p, chance, intervals):
    """Whether every group's interval holds the mean chance of its records."""
    group = np.searchsorted(fit.bounds.thresholds, p, side="left")
    low, high = intervals
    return all(low[q] <= chance[group == q].mean() <= high[q] for q in range(fit.bounds.bins) if np.any(group == q))


@pytest.mark.parametrize("form", ["counts", "difference"])
def test_intervals_of_all_groups_hold_at_once_and_those_without_noise_do_not(form):
    """At level 0.9 over 200 releases (or 30); binomial counts below 0.9 - 3 standard deviations would fail."""
    rng = np.random.default_rng(5)
    source = KeyedSource.from_seed(6)
    held, silent, runs = 0, 0, runs_of(200, part=30)
    for _ in range(runs):
        p = rng.beta(1, 4, size=1500)
        chance = 0.7 * p + 0.1
        table = {"p": p, "y": (rng.random(1500) < chance).astype(int)}
        statistic = HosmerLemeshow("p", "y", bins=64, groups=5, form=form, confidence_level=0.9)
        fit = release(statistic, trust=Central(table), privacy=PureDP("0.5"), source=source)
        held += covered(
            fit, p, chance, [np.array(ends) for ends in zip(*(g.interval for g in fit.groups), strict=True)]
        )
        within = Within.of(fit.curve, fit.bounds.thresholds)
        clear, nothing = Measured(form, 20, None, None), Moments(*np.zeros((3, fit.bounds.bins)))
        silent += covered(fit, p, chance, share_intervals(fit.values, within, clear, nothing, confidence_level=0.9))
    assert held >= runs * 0.9 - 3 * np.sqrt(runs * 0.09)
    assert silent < runs / 2


def enumerated(measured, *, records, chance, mean, half, reach, level=0.95, counted=None):
    """Coverage over all numbers of positives, with noise at 79 quantiles of its law, and mean width over narrowest."""
    rng, places = np.random.default_rng(0), (np.arange(79) + 0.5) / 79
    law = stats.laplace if isinstance(measured.observed, DiscreteLaplace) else stats.norm
    noise = law.ppf(np.stack([rng.permutation(places) for _ in range(3)])) * measured.scales[:, None]
    positives = np.arange(records + 1)
    masses = np.repeat(stats.binom.pmf(positives, records, chance), 79) / 79
    exact = np.array([records * (1 - mean), records * mean, 0.0])[:, None, None] + np.zeros((3, len(positives), 1))
    exact[2, :, 0] = positives - records * mean
    values = np.rint(exact * 2.0**20 + noise[:, None, :]).astype(np.int64).reshape(3, -1)
    size = values.shape[1]
    within = Within(*(np.full(size, each) for each in (mean - half, mean + half, mean, 0.0)), np.zeros((2, size)))
    moments = Moments(np.zeros(size), np.zeros(size), np.full(size, reach))
    low, high = share_intervals(
        values, within, counted or measured, moments, confidence_level=level, simultaneous=False
    )
    error = np.abs((exact[2] + records * mean + noise[2] * 2.0**-20) / records - chance).ravel()
    order = np.argsort(error)
    narrowest = 2 * error[order][np.searchsorted(np.cumsum(masses[order]), level)]
    return masses @ ((low <= chance) & (chance <= high)), masses @ (high - low) / narrowest


@pytest.mark.parametrize("measured", [SMALL, GAUSSIAN], ids=["laplace", "gaussian"])
@pytest.mark.parametrize(("records", "chance"), [(30, 0.3), (40, 0.1), (50, 0.5)])
def test_an_interval_holds_as_often_as_it_says_and_is_narrow(measured, records, chance):
    """A narrow group, by enumeration: at least 94 %, at most 1.3 times the narrowest width with all else known."""
    held, width = enumerated(measured, records=records, chance=chance, mean=chance, half=0.02, reach=0.001)
    assert held >= 0.94
    assert width <= 1.3
    clear = Measured("difference", 20, None, None)
    held, _ = enumerated(measured, records=records, chance=chance, mean=chance, half=0.02, reach=0.001, counted=clear)
    assert held < 0.92


@pytest.mark.parametrize("part", ["expected", "observed"])
def test_noise_of_each_measurement_is_counted(part):
    """A wide group of which the curve says nothing needs the expected counts: their noise counts as that of D does."""
    noisy = {"expected": (8, 1), "observed": (1, 8)}[part]
    laws = {name: DiscreteLaplace(Fraction(k << 20)) for name, k in zip(("expected", "observed"), noisy, strict=True)}
    measured = Measured("difference", 20, **laws)
    asked = {"records": 40, "chance": 0.3, "mean": 0.5, "half": 0.5, "reach": 0.5}
    held, _ = enumerated(measured, **asked)
    silent = dataclasses.replace(measured, **{part: DiscreteLaplace(Fraction(1))})
    values = enumerated(measured, **asked, counted=silent)
    assert held >= 0.94
    assert values[0] < 0.9


def test_single_intervals_are_narrower_and_old_documents_keep_theirs():
    fit = next(releases(1, records=2000, privacy=PureDP(1)))
    together, alone = fit.reliability(), fit.reliability(simultaneous=False)
    assert np.all(alone.high - alone.low < together.high - together.low)
    data = json.loads(fit.to_json())
    assert data["results"]["groups"][3]["interval"] == list(fit.groups[3].interval)
    earlier = max(fit.groups[3].interval[0] - 1e-3, 0.0), fit.groups[3].interval[1] + 1e-3
    data["results"]["groups"][3]["interval"] = list(earlier)
    read = Calibration.from_dict(data)
    assert json.loads(read.to_json()) == data
    assert read.groups == fit.groups, "what is shown follows from what was measured"
    data["results"]["groups"][3]["interval"] = [0.5, 0.5]
    assert json.loads(Calibration.from_dict(data).to_json()) == json.loads(fit.to_json())

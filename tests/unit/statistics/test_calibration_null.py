"""The p-value is uniform where the model is right, whatever the noise, and small where it is wrong.

Level: 400 whole releases (35 in `make test`), each of fresh records with fresh noise; Kolmogorov and Smirnov's test of
their p-values against the uniform law must stay above 1e-3, with fixed seeds. The same test must reject (below 1e-9)
the chi-square p-values of the same releases, and a bootstrap that leaves the noise out.
"""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size as runs_of
from scipy import stats

from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import GroupSums
from ogive.releasing.release import release
from ogive.statistics.calibration import sums as module
from ogive.statistics.calibration.statistic import HosmerLemeshow, sums_query
from ogive.statistics.calibration.sums import (
    Measured,
    Sums,
    Within,
    bootstrap_p_value,
    noise_margins,
    share_intervals,
    statistic,
)
from ogive.trust import Central

LEVEL, CONTROL = 1e-3, 1e-9
RELEASES = runs_of(400, part=35)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(module, "TESTED", 299)
    monkeypatch.setattr(module, "BOUNDED", 999)


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
        clear = Measured(form, 20, None, None)
        raw = fit.measured.consistent(fit.values, fit.total)
        silent += covered(fit, p, chance, share_intervals(raw, within, clear, total=1500, confidence_level=0.9))
    assert held >= runs * 0.9 - 3 * np.sqrt(runs * 0.09)
    assert silent < runs / 2


@pytest.mark.parametrize("part", ["observed", "difference", "records"])
def test_every_margin_is_needed(part, monkeypatch):
    """Narrow groups of a million records at epsilon 1/1000: held with all margins, and not without this one."""
    unit = PrivacyUnit(Adjacency.REPLACE)
    # a group from (nearly) 0 needs no bound on records, one near 1 hardly any on the difference
    ends = {"observed": (0.2, 1.0), "difference": (0.0, 0.0002), "records": (0.9, 0.9002)}[part]
    grid = Grid.explicit(sorted({*ends, 1.0} - {0.0}), low=0)
    groups = GroupSums(Binning("p", grid, outside="refuse"), Label("y"), 20)
    measured = Measured.of(sums_query(groups, "difference", PureDP("0.001"), unit), noisy=True, constants="exact")
    records, share, mean = 1e6, 0.02 if part == "difference" else 0.3, sum(ends) / 2
    within = Within(*(np.array([value]) for value in (*ends, mean, 0.0)), np.zeros((2, 1)))
    surplus = records * (share - mean)
    exact = Sums(np.array([[records * (1 - mean)], [records * mean]]), np.array([[-surplus], [surplus]]))
    margins = noise_margins(measured, 1, total_known=False, tail=Fraction(1, 20))
    silent = dataclasses.replace(margins, **{part: 0.0})

    def held(used):
        monkeypatch.setattr(module, "noise_margins", lambda *_, **__: used)
        count = 0
        for noise in measured.noise(200, 1, KeyedSource.from_seed(8)):
            error = measured.consistent(noise, None)
            sums = Sums(exact.expected + error.expected, exact.difference + error.difference)
            low, high = share_intervals(sums, within, measured, total=None, confidence_level=0.9)
            count += int(low[0] <= share <= high[0])
        return count

    assert held(margins) >= 180
    assert held(silent) < 180


def test_noise_margins_hold_as_often_as_they_say(monkeypatch):
    monkeypatch.setattr(module, "BOUNDED", 9999)
    fit = next(releases(1, records=2000, privacy=PureDP(1)))
    margins = noise_margins(fit.measured, 10, total_known=True, tail=Fraction(1, 20))
    noise = fit.measured.consistent(fit.measured.noise(4000, 10, KeyedSource.from_seed(99)), 0)
    inside = (
        (np.abs(noise.observed).max(axis=(1, 2)) <= margins.observed)
        & (np.abs(noise.difference).max(axis=(1, 2)) <= margins.difference)
        & (np.abs(noise.expected.sum(axis=1)).max(axis=1) <= margins.records)
    )
    assert inside.mean() == pytest.approx(0.95, abs=0.015)

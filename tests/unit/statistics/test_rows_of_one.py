"""Intervals for the population where records of one person are alike."""

import dataclasses

import numpy as np
import pytest
from helpers.coverage import fewest
from helpers.scope import size

import ogive
from ogive.noise import KeyedSource
from ogive.statistics import Ecdf, Histogram, Mean, Proportion, Roc
from ogive.statistics.curve.approximating import clustered_ends

PERSONS, ROWS, RUNS = 300, 3, size(120, part=80)
HELD = fewest(RUNS, chance=0.01) / RUNS  # 108 of 120 runs, 71 of 80
AGES = (20, 80)


def visits(seed):
    """Persons with three equal rows each."""
    rng = np.random.default_rng(seed)
    sick = rng.random(PERSONS) < 0.3
    score = np.where(sick, rng.beta(3, 2, PERSONS), rng.beta(2, 3, PERSONS))
    table = {"person": np.arange(PERSONS), "age": rng.integers(AGES[0], AGES[1] + 1, PERSONS), "score": score}
    return {name: np.repeat(column, ROWS) for name, column in (table | {"sick": sick.astype(int)}).items()}


def released(seed, statistic):
    trust = ogive.Central(visits(seed), person="person", max_rows_per_person=ROWS)
    source = KeyedSource.from_seed(seed)
    return ogive.release(statistic, trust=trust, privacy=ogive.PureDP(20), adjacency="add_or_remove", source=source)


def as_independent(estimate):
    """The same estimate, as if no person had several rows."""
    return dataclasses.replace(estimate, provenance=dataclasses.replace(estimate.provenance, max_rows_per_person=1))


def coverage(ends, truth, statistic):
    """How often intervals hold the truth, and how often those that count records as independent do."""
    found = np.zeros(2)
    for seed in range(RUNS):
        estimate = released(seed, statistic)
        for k, each in enumerate((estimate, as_independent(estimate))):
            low, high = ends(each)
            found[k] += low <= truth <= high
    return found / RUNS


@pytest.mark.slow
def test_a_mean():
    held, control = coverage(lambda found: found.interval(), np.mean(AGES), Mean("age", AGES))
    assert held >= HELD
    assert control < HELD - 0.02


@pytest.mark.slow
def test_a_proportion():
    held, control = coverage(lambda found: found.interval(), 0.3, Proportion("sick", positive=1))
    assert held >= HELD
    assert control < HELD - 0.02


@pytest.mark.everything
@pytest.mark.slow
def test_categories_and_cells():
    held, control = coverage(lambda found: found.intervals()[1], 0.3, Histogram("sick", values=(0, 1)))
    assert held >= HELD
    assert control < HELD - 0.02


@pytest.mark.everything
@pytest.mark.slow
def test_the_area_under_a_roc_curve():
    rng = np.random.default_rng(7)
    truth = np.mean(rng.beta(3, 2, 10**6) > rng.beta(2, 3, 10**6))
    statistic = Roc("score", "sick", bounds=(0, 1), bins=64)
    held, control = coverage(lambda found: found.auc_interval(), truth, statistic)
    assert held >= HELD
    assert control < HELD - 0.02


@pytest.mark.slow
def test_the_band_of_a_curve():
    truth = (np.arange(20, 81) - 19) / 61

    def farthest(found):
        band = found.band()
        return max(np.max(band.low - truth), np.max(truth - band.high))

    statistic = Ecdf("age", bounds=AGES, grid="integers")
    held, control = coverage(lambda found: (farthest(found), np.inf), 0.0, statistic)
    assert held >= 0.93
    assert control < 0.8


def test_ends_of_clustered_records_are_those_of_one_record_for_each_person():
    sample = np.array([0.2, 0.5, 1.0])
    low, high = clustered_ends(sample, sample, 200.0, 0.05)
    reach = np.sqrt(np.log(2 / 0.05) / 400)
    np.testing.assert_allclose(low, [0.2 - reach, 0.5 - reach, 1.0])
    np.testing.assert_allclose(high, [0.2 + reach, 0.5 + reach, 1.0])
    low, high = clustered_ends(sample, sample, 0.5, 0.05)
    np.testing.assert_array_equal(low, [0, 0, 1])
    np.testing.assert_array_equal(high, 1)


def test_a_standard_error_for_the_population_counts_rows_as_alike():
    curve = released(1, Ecdf("age", bounds=AGES, grid="integers"))
    share = curve.probabilities[30]
    noise = curve.standard_error(50, target="sample")
    expected = np.sqrt(noise**2 + ROWS * share * (1 - share) / curve.records)
    assert curve.standard_error(50) == pytest.approx(expected)
    assert as_independent(curve).standard_error(50) < expected


def test_intervals_of_categories_are_wider_by_the_root_of_the_rows_of_a_person():
    estimate = released(1, Histogram("sick", values=(0, 1)))
    wide, narrow = (np.ptp(each.intervals(), axis=1) for each in (estimate, as_independent(estimate)))
    assert wide == pytest.approx(np.sqrt(ROWS) * narrow, rel=0.1)


def test_the_interval_of_an_area_is_wider_by_the_root_of_the_rows_of_a_person(monkeypatch):
    monkeypatch.setattr("ogive.statistics.roc.area.MOST_SIMULATIONS", 999)
    estimate = released(1, Roc("score", "sick", bounds=(0, 1), bins=1024))
    wide, narrow = (np.ptp(each.auc_interval()) for each in (estimate, as_independent(estimate)))
    assert wide == pytest.approx(np.sqrt(ROWS) * narrow, rel=0.1)

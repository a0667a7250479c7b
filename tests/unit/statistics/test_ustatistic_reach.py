"""How far intervals reach where the noise is one Laplace variable, and what was stored when they took it for normal."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import integrate, stats

import ogive
from ogive.errors import DataError
from ogive.noise import KeyedSource
from ogive.statistics.ustatistic.estimate import UstatisticEstimate, laplace_reach, normal_reach

LETTERS = tuple("abcdefghij")


def released(method="kernel", privacy=None, **options):
    letters = np.random.default_rng(1).choice(LETTERS, 3000)
    return ogive.release(
        ogive.Ustatistic("c", "collision_probability", categories=LETTERS, method=method, **options),
        trust=ogive.Central({"c": letters}),
        privacy=ogive.PureDP("0.05") if privacy is None else privacy,
        source=KeyedSource(bytes(32)),
    )


def beyond(t, normal, laplace):
    """P(|S + E| > t), by integration over the Laplace part."""
    law = stats.laplace(scale=laplace / math.sqrt(2))
    if normal == 0:
        return 2 * law.sf(t)
    pieces = [integrate.quad(lambda e: law.pdf(e) * stats.norm.sf((t - e) / normal), *ends, epsabs=1e-13, limit=200)[0]
              for ends in ((-60 * laplace, 0), (0, t), (t, t + 60 * laplace))]  # fmt: skip
    return 2 * sum(pieces)


@pytest.mark.each_value
@pytest.mark.parametrize(("normal", "laplace"), [(0, 1), (0.1, 1), (1, 1), (3, 1), (20, 1)])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99, 0.9999])
def test_the_reach_is_the_quantile_of_both_parts_together_or_of_a_normal_variable(level, normal, laplace):
    reach, least = laplace_reach(level, normal, laplace), normal_reach(level, math.hypot(normal, laplace))
    assert reach >= least
    found = beyond(reach, normal, laplace)
    assert found <= (1 - level) * (1 + 1e-6)
    if reach > least:
        assert found == pytest.approx(1 - level, rel=1e-6)
        assert beyond(least, normal, laplace) > 1 - level, "control: a normal quantile alone falls short"
    else:
        assert level < 0.95


def test_a_laplace_variable_alone_has_its_own_quantile_and_a_small_one_changes_nothing():
    assert laplace_reach(0.99, 0, 2) == pytest.approx(-math.log(0.01) * math.sqrt(2))
    assert laplace_reach(0.99, 1, 0) == normal_reach(0.99, 1)
    # where the small part is left out nothing jumps
    inside, outside = (laplace_reach(0.99, 1, math.sqrt(2) * 1e-3 * (1 + sign * 1e-9)) for sign in (1, -1))
    assert inside == pytest.approx(outside, rel=1e-10)


@pytest.mark.parametrize("method", ["kernel", "degrees"])
@pytest.mark.parametrize("level", [0.95, 0.99, 0.998])
def test_intervals_hold_under_laplace_noise_at_high_levels(method, level):
    """40,000 draws of the noise; the control takes it for normal."""
    found = released(method)
    assert found.noise_is_laplace
    draws = 40_000
    noise = np.random.default_rng(7).laplace(0, found.randomization_error / math.sqrt(2), draws)
    below = level + 0.001 if method == "degrees" else level
    slack = 4 * math.sqrt(level * (1 - level) / draws)
    for estimate, holds in ((found, True), (dataclasses.replace(found, taken_as_normal=True), False)):
        wide = dataclasses.replace(estimate, limits=(-math.inf, math.inf), value=0.0)
        low, high = wide.interval(level, target="sample")
        held = float(np.mean((low <= noise) & (noise <= high)))
        if holds:
            assert held >= level - slack
            assert held <= below + slack
        else:
            assert held < level - slack


def test_normal_noise_has_the_interval_that_it_had():
    found = released(privacy=ogive.ZeroConcentratedDP("0.01"))
    assert not found.noise_is_laplace
    low, high = dataclasses.replace(found, limits=(-math.inf, math.inf)).interval(0.99)
    assert high - found.value == pytest.approx(normal_reach(0.99, found.standard_error))
    assert found.value - low == pytest.approx(high - found.value)


@pytest.mark.parametrize("level", [0.95, 0.99])
def test_what_was_stored_with_a_normal_interval_is_read_and_written_as_it_was(level):
    found = dataclasses.replace(released(confidence_level=level), limits=(-1.0, 1.0))
    before = dataclasses.replace(found, taken_as_normal=True)
    assert before.interval() != found.interval()
    for each in (found, before):
        again = UstatisticEstimate.from_json(each.to_json())
        assert again == each
        assert again.to_json() == each.to_json()
    data = found.to_dict()
    assert set(data) == set(before.to_dict())
    data["interval"][1] += 1e-3
    with pytest.raises(DataError, match="'interval' of a U-statistic contradicts the others"):
        UstatisticEstimate.from_dict(data)
    data = found.to_dict()
    data["standard_error"] /= 2
    with pytest.raises(DataError, match="'standard_error' of a U-statistic contradicts the others"):
        UstatisticEstimate.from_dict(data)

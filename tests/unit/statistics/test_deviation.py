"""Which errors contradict a level is what a search for the quantile finds, to the last bit."""

import math
import random

import pytest
from helpers.scope import size

from ogive.statistics.sums.measured import Deviation

LEVELS = (0.3, 0.5, 0.68, 0.9, 0.95, 0.99, 0.9999)


def quantile(error, level):
    """The oracle: the least distance at which bisection sees the chance fall to the level."""
    low, high = 0.0, 200 * error.standard_error
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return high + error.step
        low, high = (middle, high) if error.exceeds(middle) > 1 - level else (low, middle)


def errors(number):
    draw = random.Random(1)
    for _ in range(number):
        scale = 10 ** draw.uniform(-3, 4)
        scales = tuple(scale * draw.choice([1, 1, 2, draw.uniform(0.1, 10)]) for _ in range(draw.randint(1, 3)))
        variance = draw.choice([0.0, scale**2 * 10 ** draw.uniform(-3, 1.5)])
        step = draw.choice([0.0, 0.5, scale / 3, scale * 10 ** draw.uniform(2, 9)])
        yield Deviation(variance, scales, step)


def near(place, apart):
    """Numbers around one: the next ones to it and some farther away."""
    yield from (place * (1 + sign * 10.0**-digits) for digits in range(17) for sign in (1, -1))
    for end in (0.0, math.inf):
        number = place
        for _ in range(apart):
            number = math.nextafter(number, end)
            yield number


@pytest.mark.parametrize("level", LEVELS)
def test_an_error_is_contradicted_where_it_is_beyond_the_quantile(level):
    for error in errors(size(200, part=20)):
        reach = quantile(error, level)
        assert error.reach(level) == reach
        # a scale beside a wide normal error counts by its variance alone
        if error._separated[1]:
            for distance in (reach, 0.0, error.step, *near(reach, apart=5)):
                assert error.contradicts(distance, level) == (distance > reach)


@pytest.mark.parametrize("scales", [(0.0,), (1e-170, 1e-170), (1e-170,)])
def test_an_error_that_is_nearly_none_is_contradicted_by_any_distance(scales):
    assert Deviation(0.0, scales).contradicts(1.0, 0.95)


def test_most_distances_are_told_by_one_chance(monkeypatch):
    asked = []
    exceeds = Deviation.exceeds
    monkeypatch.setattr(
        Deviation, "exceeds", lambda error, distance: asked.append(distance) or exceeds(error, distance)
    )
    error = Deviation(3.0, (2.0, 1.0), 0.5)
    reach = error.reach(0.95)
    searched = len(asked)
    for share, most in ((0.5, 1), (1.5, 1), (1 + 1e-9, 1), (1.0, searched // 2)):
        asked.clear()
        error.contradicts(share * reach, 0.95)
        assert len(asked) <= most < searched

"""Chapters of pairwise statistics: what the error is made of, and values that are none or impossible."""

import re

import numpy as np
import pytest
from helpers.declared import public_of

import ogive
from ogive.noise import KeyedSource
from ogive.privacy import PureDP
from ogive.report import render_report
from ogive.report.page import chapter_of

RNG = np.random.default_rng(4)
TABLE = {"x": RNG.random(300), "label": (RNG.random(300) < 0.5).astype(int), "none": np.ones(300, dtype=int)}
GINI = ogive.Ustatistic("x", bounds=(0, 1), bins=4, method="krr")
HIDDEN = ogive.Ustatistic(("x", "none"), "auc", bounds=(0, 1), public_labels=False)


def released(statistic, trust=ogive.Central, epsilon=1, seed=0):
    source = KeyedSource.from_seed(seed)
    return ogive.release(
        statistic,
        trust=trust(TABLE),
        privacy=None if trust is ogive.Clear else PureDP(epsilon),
        public=public_of(statistic),
        source=source,
    )


def words_of(found):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", render_report([found], title="Pairs")))


def test_the_total_error_stands_before_its_parts():
    found = released(GINI, ogive.Local)
    text = words_of(found)
    places = [
        text.index(each) for each in ("Total error", "from randomization", "from sampling", "from rounding, at most")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("statistic", [HIDDEN, ogive.Ustatistic(("x", "none"), "kendall_b", bounds=(0, 1))])
def test_an_exact_value_that_is_undefined_is_not_blamed_on_noise(statistic):
    found = released(statistic, ogive.Clear)
    assert not found.defined
    assert "a ratio whose denominator is 0 for these records" in chapter_of(found).warning
    assert chapter_of(found).headline.startswith("These records do not determine ")
    assert "privacy budget" not in words_of(found)


def test_a_value_that_noise_made_impossible_is_said_to_be():
    found = next(each for seed in range(99) if not (each := released(HIDDEN, seed=seed)).possible)
    assert "outside the possible values, 0 to 1, because of noise" in chapter_of(found).headline
    usual = released(ogive.Ustatistic("x", bounds=(0, 1)))
    assert "outside the possible values" not in words_of(usual)

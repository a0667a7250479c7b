"""The choice of a method that is kept for the next release is that of a fresh process, and holds no records."""

import gc
import weakref

import numpy as np
import pytest

import ogive
from ogive.statistics.methods import choose

ONE = ogive.PureDP(1)
VALUES = np.random.default_rng(3).normal(50, 10, 2_000)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(choose, "_CHOSEN", {})


def released(trust=ogive.Central, values=VALUES, privacy=ONE, adjacency=ogive.Adjacency.REPLACE, **options):
    statistic = ogive.Ecdf("x", **{"bounds": (0, 100), "bins": 64, **options})
    return ogive.release(statistic, trust=trust({"x": values}), privacy=privacy, adjacency=adjacency)


DIFFERENT = [
    {},
    {"privacy": ogive.PureDP("0.001")},
    {"privacy": ogive.ZeroConcentratedDP("0.5")},
    {"values": VALUES[:30]},
    {"adjacency": ogive.Adjacency.ADD_OR_REMOVE},
    {"bins": 1024},
    {"smooth": "isotonic"},
    {"trust": ogive.Servers, "values": VALUES[:30]},
]


def test_releases_that_differ_in_one_public_thing_get_the_choice_of_a_fresh_process():
    fresh = []
    for each in DIFFERENT:
        choose._CHOSEN.clear()
        fresh.append(released(**each).provenance.method)
    choose._CHOSEN.clear()
    assert [released(**each).provenance.method for each in (*DIFFERENT, *DIFFERENT)] == fresh * 2
    assert len(set(fresh)) > 1  # the control: they do not all choose the same


def test_few_choices_are_kept(monkeypatch):
    monkeypatch.setattr(choose, "_MOST_CHOSEN", 2)
    for bins in (16, 32, 64):
        released(bins=bins)
    assert len(choose._CHOSEN) == 2


def test_what_a_trust_model_holds_is_not_kept():
    class Remembering(ogive.Central):
        def refusal(self, query):
            return super().refusal(query)

    released(trust=Remembering)
    assert choose._CHOSEN == {}
    trust = ogive.Central({"x": VALUES})
    ogive.release(ogive.Ecdf("x", bounds=(0, 100), bins=64), trust=trust, privacy=ogive.PureDP(1))
    assert len(choose._CHOSEN) == 1
    gone = weakref.ref(trust)
    del trust
    gc.collect()
    assert gone() is None

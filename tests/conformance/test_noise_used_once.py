"""No value of noise serves two purposes: what a release draws for one part, it draws for no other.

Noise is a function of key, context, law, level and node (`ogive.noise.source`). Each reading of it is written down with
the line that asked for it and the part of the question for which it asked.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.examples import EXAMPLES
from helpers.few_simulations import simulate_little
from helpers.scope import label

import ogive
from ogive import Adjacency, PureDP, ZeroConcentratedDP
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import DerivedNodes, Geometric, UniformBits
from ogive.queries import joint_choice
from ogive.queries import wrapped as groups_of_queries
from ogive.statistics import Grouped, Quantiles, Subset

QUANTILES = {
    f"{name} of {len(shares)}": Quantiles("x", shares, bounds=(0, 100), bins=64, method=name)
    for name in ("exponential", "joint", "bisection")
    for shares in ((0.5,), (0.1, 0.5, 0.9))
}
STATISTICS = {f"{name}-{at}": each for name, several in EXAMPLES.items() for at, each in enumerate(several)} | QUANTILES
WRAPPED = {
    "alone": lambda statistic: statistic,
    "groups of a subset": lambda statistic: Subset(Grouped(statistic, "g", ("u", "v", "w")), "x > 10"),
    "groups": lambda statistic: Grouped(statistic, "g", ("u", "v", "w")),
}
PRIVACY = {"pure": (PureDP(4), Adjacency.ADD_OR_REMOVE), "zcdp": (ZeroConcentratedDP(1), Adjacency.REPLACE)}
SAME_PURPOSE = {"first": "decided", "_window": "values"}
"""Functions that read again what another one has read, for the same purpose."""


class Readings:
    """Who has read which value."""

    def __init__(self, monkeypatch):
        self.owners, self.twice, self._parts = {}, set(), []
        values, of_part = DerivedNodes.values, groups_of_queries._PartNodes.values

        def recorded(nodes, law, level, numbers):
            owner = (tuple(self._parts), self._purpose())
            for number in np.asarray(numbers).ravel().tolist():
                place = (nodes._key, nodes._context, law, level, number)
                if self.owners.setdefault(place, owner) != owner:
                    self.twice.add((owner, self.owners[place], level))
            return values(nodes, law, level, numbers)

        def in_part(part, law, level, numbers):
            self._parts.append(part.first)
            try:
                return of_part(part, law, level, numbers)
            finally:
                self._parts.pop()

        monkeypatch.setattr(DerivedNodes, "values", recorded)
        monkeypatch.setattr(groups_of_queries._PartNodes, "values", in_part)

    @staticmethod
    def _purpose():
        frame = sys._getframe(1)
        while Path(frame.f_code.co_filename).name in (Path(__file__).name, "groups.py"):
            frame = frame.f_back
        name = frame.f_code.co_name
        return Path(frame.f_code.co_filename).name, SAME_PURPOSE.get(name, name)


@pytest.fixture
def readings(monkeypatch):
    """With three bits a draw, so that most draws of joint selections need more of them."""
    monkeypatch.setattr(joint_choice, "BITS", 3)
    monkeypatch.setattr(joint_choice, "UNIFORM", UniformBits(3))
    monkeypatch.setattr("ogive.statistics.curve.bands.SIMULATED_VALUES", 100_000)
    simulate_little(monkeypatch)
    return Readings(monkeypatch)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    values = {"x": np.clip(rng.gamma(4.0, 8.0, size=300), 0, 100), "p": rng.beta(1, 5, size=300)}
    labels = {"y": rng.integers(0, 2, size=300), "z": rng.integers(0, 3, size=300), "g": rng.choice(list("uvw"), 300)}
    return values | labels


def sort_of(name):
    """What counts as the same statistic: its kind, method, kernel and form."""
    statistic = STATISTICS[name]
    return statistic.name, *(label(getattr(statistic, field, None)) for field in ("method", "kernel", "form"))


@pytest.mark.covering("name", "how", name=sort_of, how=lambda how: how == "alone", price=str)
@pytest.mark.parametrize("price", PRIVACY)
@pytest.mark.parametrize("how", WRAPPED)
@pytest.mark.parametrize("name", STATISTICS)
def test_a_release_reads_each_value_for_one_purpose(name, how, price, table, readings):
    privacy, adjacency = PRIVACY[price]
    try:
        with ogive.Session(table, limit=privacy, adjacency=adjacency) as session:
            session.release(WRAPPED[how](STATISTICS[name]), privacy=privacy)
    except (ParameterError, UnsupportedError):  # not every statistic is served under every price, nor of groups
        assert not readings.owners
        return
    assert readings.owners
    assert not readings.twice


def test_groups_of_a_joint_selection_need_more_bits_than_one_word(table, readings):
    """The control: levels beyond the declared ones are read, of more than one group."""
    with ogive.Session(table, limit=PureDP(4)) as session:
        statistic = QUANTILES["joint of 3"]
        session.release(Grouped(statistic, "g", ("u", "v", "w")), privacy=PureDP(4))
    further = {parts for (*_, law, level, _), (parts, _) in readings.owners.items() if level >= 1 << 24}
    assert len(further) > 1


def test_parts_that_are_numbered_one_after_the_other_are_seen(monkeypatch, readings):
    """The control: with levels shifted by the declared ones alone, two parts read one value."""
    nodes = DerivedNodes(bytes(32), b"")
    law = Geometric(3)
    for first in (0, 1):
        part = groups_of_queries._PartNodes(nodes, first, 2)
        part.values(law, 1, np.arange(4))
    assert not readings.twice
    groups_of_queries._PartNodes(nodes, 1, 2).values(law, 0, np.arange(1))
    assert readings.twice

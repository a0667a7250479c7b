"""Prices of several statistics asked together, against all neighbors of small tables, with exact probabilities.

Discrete Laplace noise of scale s on an integer makes an answer e^(d / s) times as likely where the exact integer is d
farther away, for answers beyond both. So the largest log-ratio of all answers together is the sum of all such d / s.

Where groups are found first, what follows an output o of that has a largest log-ratio r(o), so that the delta that goes
with epsilon is at most the sum over all o of P(o) - e^(epsilon - r(o)) Q(o), where that is positive.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from ogive import Adjacency, ApproxDP, Central, Describe, Mean, Proportion, PureDP
from ogive.accounting import covers, total_loss
from ogive.noise import DiscreteLaplace
from ogive.privacy import PrivacyUnit
from ogive.queries import Answer
from ogive.queries.aggregates import Counted, write
from ogive.records import Records
from ogive.statistics.base import Terms
from ogive.statistics.methods.together import Weighted, ask_together, rehearse

GRANTED = PureDP(3)
PEOPLE = list(itertools.product(("a", "b"), (0, 1), (0, 1)))  # group, two values
SIZES = (1, 2)


def tables():
    return [people for size in SIZES for people in itertools.combinations_with_replacement(PEOPLE, size)]


def adjacent(one, other, adjacency):
    """Whether two multisets differ by one record."""
    rest, more = list(one), list(other)
    for person in one:
        if person in more:
            rest.remove(person)
            more.remove(person)
    sizes = (1, 1) if adjacency is Adjacency.REPLACE else (0, 1)
    return (len(rest), len(more)) == sizes


def terms(adjacency, granted=GRANTED):
    trust = Central({"g": ["a", "b"], "u": [0, 1], "v": [0, 1]})
    return Terms(granted, PrivacyUnit(adjacency), trust.refusal, simulations=0)


def asked(adjacency, by):
    """The queries of a description of two variables, one of which has twice the part of the other."""
    groups = {"by": "g", "groups": ("a", "b")} if by else {}
    statistic = Describe(values={"u": 1, "v": 1}, weights={"v": 2}, public_groups=False, **groups)
    return rehearse(statistic.questions(terms(adjacency)), terms(adjacency))


def measured(queries, people):
    """The exact integers of all queries over the scales of their noise."""
    columns = dict(zip("guv", (list(each) for each in zip(*people, strict=True)), strict=True))
    found = []
    for query in queries:
        assert all(isinstance(level.law, DiscreteLaplace) for level in query.levels)
        scales = np.concatenate([np.full(level.nodes, float(level.law.scale)) for level in query.levels])
        found.append(query.measure(Records.of(columns).aggregate(query.aggregate)).ravel() / scales)
    return np.concatenate(found)


def worst(queries, adjacency):
    """The largest log-ratio of the probability of all answers, over all pairs of adjacent tables."""
    known = {people: measured(queries, people) for people in tables()}
    pairs = ((one, other) for one in known for other in known if adjacent(one, other, adjacency))
    return max(float(np.abs(known[one] - known[other]).sum()) for one, other in pairs)


def price_of(queries, adjacency):
    return sum((query.price(PrivacyUnit(adjacency)).epsilon for query in queries), Fraction(0))


@pytest.mark.parametrize("by", [False, True], ids=["everyone", "groups"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_all_answers_of_a_description_cost_its_price_and_the_price_is_reached(adjacency, by):
    queries = asked(adjacency, by)
    assert len(queries) == 2
    price = price_of(queries, adjacency)
    assert 0.99 * float(GRANTED.epsilon) < price <= GRANTED.epsilon
    assert worst(queries, adjacency) == pytest.approx(float(price), rel=1e-9)


def with_missing(adjacency):
    """The queries of a variable whose missing values are counted, and the tables that they are asked of."""
    statistic = Describe(values={"u": 1}, missing="no", count_missing=True)
    people = [("a", value, 0) for value in (0.0, 1.0, math.nan)]
    every = [each for size in SIZES for each in itertools.combinations_with_replacement(people, size)]
    return rehearse(statistic.questions(terms(adjacency)), terms(adjacency)), every


@pytest.mark.parametrize("adjacency", Adjacency)
def test_counted_missing_values_are_in_the_price_and_the_price_is_reached(adjacency):
    queries, every = with_missing(adjacency)
    price = price_of(queries, adjacency)
    known = [measured(queries, people) for people in every]
    pairs = itertools.product(range(len(every)), repeat=2)
    largest = max(
        np.abs(known[one] - known[other]).sum() for one, other in pairs if adjacent(every[one], every[other], adjacency)
    )
    assert 0.99 * float(GRANTED.epsilon) < price <= GRANTED.epsilon
    assert largest == pytest.approx(float(price), rel=1e-9)
    own, counted = (query.price(PrivacyUnit(adjacency)).epsilon for query in queries)
    assert float(counted / (own + counted)) == pytest.approx(0.2, rel=0.01)
    assert largest > 1.2 * float(own)  # control: without the count the price would be too low


@pytest.mark.parametrize("adjacency", Adjacency)
def test_different_statistics_of_the_same_records_cost_what_they_cost_together(adjacency):
    asks = [Weighted(Fraction(1, 3), Mean("u", (0, 1)).questions), Weighted(Fraction(2, 3), Proportion("v").questions)]
    queries = rehearse(ask_together(asks, terms(adjacency)), terms(adjacency))
    price = price_of(queries, adjacency)
    assert price <= GRANTED.epsilon
    assert 0.9 * float(price) < worst(queries, adjacency) <= float(price) + 1e-9


@pytest.mark.parametrize("by", [False, True], ids=["everyone", "groups"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_control_the_dearest_query_alone_is_no_price_of_all(adjacency, by):
    queries = asked(adjacency, by)
    dearest = max(query.price(PrivacyUnit(adjacency)).epsilon for query in queries)
    assert worst(queries, adjacency) > float(dearest) * 1.2


def test_parts_are_in_proportion_to_weights():
    one, two = (query.price(PrivacyUnit(Adjacency.REPLACE)).epsilon for query in asked(Adjacency.REPLACE, by=True))
    assert float(two / one) == pytest.approx(2, rel=0.01)


FOUND = ApproxDP(12, "0.02")


def asked_found(adjacency, groups):
    """The query that finds groups, and those that follow where it finds these."""
    procedure = Describe(values={"u": 1, "v": 1}, weights={"v": 2}, by="g").questions(terms(adjacency, FOUND))
    first = next(procedure)

    def rest():
        query = procedure.send(Answer(write(Counted(dict.fromkeys(groups, first.threshold))), None))
        while True:
            try:
                query = procedure.send((yield query))
            except StopIteration:
                return

    return first, rehearse(rest(), terms(adjacency, FOUND)) if groups else []


def told(query, count):
    """Chances that a group of so many records is not told, is told with each count, and with any larger one."""
    most = query.threshold + SIZES[-1]
    if not count:  # nobody has it
        return [1.0] + [0.0] * (most - query.threshold + 2)
    q = math.exp(-1 / float(query.law.scale))
    ends = [1 - q ** (number - count) / (1 + q) for number in range(query.threshold, most + 2)]
    return np.diff([0.0, *ends, 1.0])


def delta_of(adjacency, spared):
    """The largest delta that goes with the price, less some epsilon, over all pairs of adjacent tables; the price too.

    Where no group has a missing value its noisy count has the same law for all tables.
    """
    asks = {groups: asked_found(adjacency, groups) for groups in ((), ("a",), ("b",), ("a", "b"))}
    unit, found = PrivacyUnit(adjacency), 0.0
    first = asks[()][0]
    known = {
        people: {groups: measured(rest, people) for groups, (_, rest) in asks.items() if groups} for people in tables()
    }
    laws = {people: [told(first, [person[0] for person in people].count(group)) for group in "ab"] for people in known}
    price = total_loss([query.price(unit) for query in (first, *asks["a", "b"][1])])
    for one, other in itertools.permutations(known, 2):
        if not (adjacent(one, other, adjacency) or adjacent(other, one, adjacency)):
            continue
        delta = 0.0
        for places in itertools.product(range(len(laws[one][0])), repeat=2):
            here, there = (
                math.prod(law[place] for law, place in zip(laws[each], places, strict=True)) for each in (one, other)
            )
            groups = tuple(group for group, place in zip("ab", places, strict=True) if place)
            ratio = np.abs(known[one][groups] - known[other][groups]).sum() if groups else 0.0
            delta += max(0.0, here - math.exp(float(price.epsilon) - spared - ratio) * there)
        found = max(found, delta)
    return found, price


@pytest.mark.parametrize("adjacency", Adjacency)
def test_groups_that_are_found_and_all_that_is_asked_of_them_cost_the_price(adjacency):
    delta, price = delta_of(adjacency, 0.0)
    assert covers(FOUND, price)
    assert 0.9 * float(FOUND.epsilon) < price.epsilon
    assert 0.99 * float(price.delta) < delta <= float(price.delta) + 1e-12


@pytest.mark.parametrize("adjacency", Adjacency)
def test_control_the_price_of_finding_groups_is_no_price_of_all(adjacency):
    delta, price = delta_of(adjacency, 0.75 * float(FOUND.epsilon))
    assert delta > 1.2 * float(price.delta)

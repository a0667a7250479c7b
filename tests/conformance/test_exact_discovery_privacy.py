"""What finding out the values of a column costs, by enumerating all outputs of small tables and all their neighbors.

An output is, of every value that occurs, its noisy count or nothing, and of missing values a noisy count. Beyond the
threshold and all counts, noise has one ratio of probabilities whatever it is, so all such outputs are one here, and the
sums leave nothing out.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size

from ogive.accounting import covers
from ogive.columns import OpenCategories
from ogive.errors import ParameterError
from ogive.noise import DerivedNodes, DiscreteLaplace
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit
from ogive.queries import DiscoveryQuery, ValueCounts, design_discovery
from ogive.queries.aggregates import Counted, read, write
from ogive.queries.histograms import least_threshold, shown_chance

ADD, REPLACE = Adjacency.ADD_OR_REMOVE, Adjacency.REPLACE
OPEN, COUNTED = ValueCounts(OpenCategories("x")), ValueCounts(OpenCategories("x", "count"))
MOST = 4
"""Records of a value in any table."""


def below(scale, limit):
    """P(Z < limit) of discrete Laplace noise."""
    q = math.exp(-1 / scale)
    return q ** (1 - limit) / (1 + q) if limit <= 0 else 1 - q**limit / (1 + q)


def chances(scale, count, least, reach):
    """Chances of a noisy count below `least`, of each number up to `reach`, and beyond."""
    ends = [below(scale, number - count) for number in range(least, reach + 2)]
    return np.diff([0.0, *ends, 1.0])


def outputs(scale, threshold, table, missing):
    """Chances of all outputs for a table of counts; the last is that of missing values where these are counted."""
    reach = threshold + MOST + 4
    parts = []
    for place, count in enumerate(table):
        if missing and place == len(table) - 1:
            parts.append(chances(scale, count, 0, reach))
        elif count:
            parts.append(chances(scale, count, threshold, reach))
        else:  # a value that no record has is never told
            parts.append(np.eye(1, reach - threshold + 3)[0])
    joint = np.ones(1)
    for part in parts:
        joint = np.outer(joint, part).ravel()
    assert math.isclose(joint.sum(), 1)
    return joint


def neighbors(table, rows, adjacency):
    """All tables with the records of one person more, or with one record replaced."""
    if adjacency is ADD:
        for more in itertools.product(range(rows + 1), repeat=len(table)):
            if 1 <= sum(more) <= rows:
                yield tuple(np.add(table, more).tolist())
        return
    for one, other in itertools.permutations(range(len(table)), 2):
        if table[one]:
            moved = list(table)
            moved[one] -= 1
            moved[other] += 1
            yield tuple(moved)


def worst(scale, threshold, epsilon, rows, adjacency, *, missing=False, tables=None):
    """The largest sum of P - e^epsilon Q over the outputs, over all adjacent tables and both ways."""
    known = {}

    def of(table):
        if table not in known:
            known[table] = outputs(scale, threshold, table, missing)
        return known[table]

    found = 0.0
    for table in tables or itertools.product(range(MOST + 1 if rows == 1 else 2), repeat=3):
        for other in neighbors(table, rows, adjacency):
            for one, two in ((of(table), of(other)), (of(other), of(table))):
                found = max(found, np.maximum(one - math.exp(epsilon) * two, 0).sum())
    return found


CASES = [
    (scale, above, rows, adjacency)
    for scale in (Fraction(1, 2), Fraction(1), Fraction(3), Fraction(10))
    for above in (1, 2, 4)
    for rows, adjacency in ((1, ADD), (2, ADD), (3, ADD), (1, REPLACE))
]


@pytest.mark.covering(scale=str)
@pytest.mark.parametrize("missing", [False, True], ids=["refused", "counted"])
@pytest.mark.parametrize(("scale", "above", "rows", "adjacency"), CASES)
def test_the_loss_of_small_tables_is_the_price(scale, above, rows, adjacency, missing):
    unit = unit_of(rows, adjacency)
    query = DiscoveryQuery(COUNTED if missing else OPEN, DiscreteLaplace(scale), rows + above)
    price = query.price(unit)
    assert price.epsilon == Fraction(rows if adjacency is ADD else 2) / scale
    found = worst(scale, query.threshold, price.epsilon, rows, adjacency, missing=missing)
    if rows == 3 and missing:  # only two places are left for three records of their own
        assert found <= float(price.delta) + 1e-12
    else:
        assert found == pytest.approx(float(price.delta), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize(("scale", "above", "rows", "adjacency"), [case for case in CASES if case[1] > 1])
def test_control_a_threshold_one_lower_is_not_paid_for(scale, above, rows, adjacency):
    price = DiscoveryQuery(OPEN, DiscreteLaplace(scale), rows + above).price(unit_of(rows, adjacency))
    assert worst(scale, rows + above - 1, price.epsilon, rows, adjacency) > 1.02 * float(price.delta)


@pytest.mark.parametrize(("scale", "above", "rows", "adjacency"), [case for case in CASES if case[1] == 1])
def test_control_a_smaller_epsilon_is_not_paid_for(scale, above, rows, adjacency):
    """Where hardly any value of one person is told, so that it is the noise which hides."""
    threshold = rows + math.ceil(12 * scale)
    price = DiscoveryQuery(OPEN, DiscreteLaplace(scale), threshold).price(unit_of(rows, adjacency))
    often = [(threshold + 1, threshold + 1, 0)]
    assert worst(scale, threshold, price.epsilon, rows, adjacency, tables=often) <= float(price.delta) + 1e-12
    assert worst(scale, threshold, price.epsilon * 9 / 10, rows, adjacency, tables=often) > 10 * float(price.delta)


def unit_of(rows, adjacency):
    return PrivacyUnit(adjacency, None if rows == 1 else "who", rows)


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 30])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(40), Fraction(1000)])
def test_a_person_shows_most_by_one_value_or_by_a_value_for_each_record(scale, rows):
    """Against every way to divide the records of a person among values that nobody else has."""
    law = DiscreteLaplace(scale)
    for threshold in (rows + 1, rows + 5, rows + 40):
        most = 0.0
        for parts in partitions(min(rows, 12)) if rows <= 12 else [[rows], [1] * rows, [rows - 9, 9], [2] * 15]:
            hidden = math.prod(below(float(scale), threshold - each) for each in parts)
            most = max(most, 1 - hidden)
        assert float(shown_chance(law, threshold, rows)) == pytest.approx(most, rel=1e-6, abs=1e-12)


def partitions(total, largest=None):
    """All ways to write a number as a sum of numbers from 1."""
    if total == 0:
        yield []
    for first in range(min(total, largest or total), 0, -1):
        for rest in partitions(total - first, first):
            yield [first, *rest]


def test_both_ways_to_divide_records_are_the_worst_somewhere():
    """So that neither half of the price is idle."""
    wide, narrow = DiscreteLaplace(1000), DiscreteLaplace(Fraction(1, 3))
    one = [float(shown_chance(law, 20, 1)) for law in (wide, narrow)]
    assert float(shown_chance(wide, 20, 7)) == pytest.approx(1 - (1 - below_at_least(1000, 19)) ** 7)
    assert float(shown_chance(narrow, 20, 7)) == pytest.approx(below_at_least(1 / 3, 13))
    assert one[0] == pytest.approx(below_at_least(1000, 19))


def below_at_least(scale, least):
    q = math.exp(-1 / scale)
    return q**least / (1 + q)


@pytest.mark.parametrize("delta", ["0.01", "1e-6", "1e-12", "1e-100"])
@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("scale", ["0.01", "1", "7.25", "12345"])
def test_the_threshold_is_the_least_that_keeps_delta(scale, rows, delta):
    law, delta = DiscreteLaplace(Fraction(scale)), Fraction(delta)
    threshold = least_threshold(law, delta, rows)
    assert shown_chance(law, threshold, rows) <= delta
    assert threshold == rows + 1 or shown_chance(law, threshold - 1, rows) > delta


@pytest.mark.parametrize("delta", [Fraction("1e-6"), Fraction("1e-9")])
def test_the_chance_is_rounded_up_and_hardly(delta):
    """Against 60 digits of another library."""
    import mpmath

    mpmath.mp.dps = 60
    for scale, rows in itertools.product((Fraction(1, 7), Fraction(2), Fraction(31, 3), Fraction(10**6)), (1, 3, 10)):
        law = DiscreteLaplace(scale)
        threshold = least_threshold(law, delta, rows)
        q = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
        single, whole = (q ** (threshold - records) / (1 + q) for records in (1, rows))
        exact = max(whole, 1 - (1 - single) ** rows)
        found = shown_chance(law, threshold, rows)
        assert exact <= mpmath.mpf(found.numerator) / found.denominator <= exact * (1 + mpmath.mpf("1e-13"))


@pytest.mark.parametrize("unit", [PrivacyUnit(ADD), PrivacyUnit(REPLACE), PrivacyUnit(ADD, "who", 5)], ids=str)
@pytest.mark.parametrize("grant", [ApproxDP(1, "1e-6"), ApproxDP("0.3", "1e-9"), ApproxDP(8, "0.001")], ids=str)
def test_designs_spend_what_is_granted(grant, unit):
    query = design_discovery(OPEN, grant, unit)
    price = query.price(unit)
    assert covers(grant, price)
    assert price.epsilon > Fraction(999_999, 1_000_000) * grant.epsilon
    lower = DiscoveryQuery(OPEN, query.law, query.threshold - 1)
    assert query.threshold == unit.max_rows_per_person + 1 or not covers(grant, lower.price(unit))


def test_a_person_who_reaches_the_threshold_without_noise_has_no_price():
    query = DiscoveryQuery(OPEN, DiscreteLaplace(1), 4)
    with pytest.raises(ParameterError, match="above the 4 records"):
        query.price(PrivacyUnit(ADD, "who", 4))


def test_dropped_values_need_a_private_number_of_records():
    query = DiscoveryQuery(ValueCounts(OpenCategories("x", "drop")), DiscreteLaplace(1), 4)
    with pytest.raises(ParameterError, match="missing='count'"):
        query.price(PrivacyUnit(REPLACE))
    assert query.price(PrivacyUnit(ADD)) == DiscoveryQuery(OPEN, DiscreteLaplace(1), 4).price(PrivacyUnit(ADD))


DRAWS = size(4000, part=2000)


def told(query, counted):
    """Of each draw what the real query tells, with the noise of a fresh key."""
    sums = write(counted)
    digest = query.digest(sums, ADD)
    for draw in range(DRAWS):
        yield read(query.answer(sums, DerivedNodes(draw.to_bytes(32, "big"), digest)))


def test_answers_have_the_chances_that_the_price_is_of():
    """A wrong threshold by one would be off by more than 6 standard deviations."""
    query = DiscoveryQuery(COUNTED, DiscreteLaplace(2), 5)
    counted = Counted({"a": 4, "b": 1, 7: 9}, missing=2)
    seen = list(told(query, counted))
    for value, count in counted.counts.items():
        chance = 1 - below(2.0, 5 - count)
        shown = sum(value in each.counts for each in seen)
        spread = math.sqrt(DRAWS * chance * (1 - chance))
        assert abs(shown - DRAWS * chance) < 5 * spread
        wrong = DRAWS * (1 - below(2.0, 6 - count))
        assert abs(shown - wrong) > (5 if count > 1 else 2) * spread, "the control"
        assert all(each.counts[value] >= 5 for each in seen if value in each.counts)
    both = sum("a" in each.counts and 7 in each.counts for each in seen) / DRAWS
    each = math.prod(1 - below(2.0, 5 - count) for count in (4, 9))
    assert both == pytest.approx(each, abs=0.04), "values are told independently"
    assert np.mean([each.missing for each in seen]) == pytest.approx(2, abs=0.3)
    assert min(each.missing for each in seen) < 0, "missing values are told whatever their noisy count"
    assert all(each.unnamed == 0 for each in seen)


def test_what_is_told_does_not_depend_on_values_that_are_not():
    """Nothing but values at or above the threshold and the missing ones is in an answer, and exact ones have all."""
    query = DiscoveryQuery(OPEN, DiscreteLaplace(1), 30)
    sums = write(Counted({f"rare {number}": 2 for number in range(50)} | {"often": 500}, missing=3, unnamed=4))
    answer = read(query.answer(sums, DerivedNodes(bytes(32), b"")))
    assert list(answer.counts) == ["often"]
    assert (answer.missing, answer.unnamed) == (0, 0)
    assert len(read(query.answer(sums, None)).counts) == 51

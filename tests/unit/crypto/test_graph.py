"""Random regular graphs: their shape, and how seldom they fail, against enumeration and simulation."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from helpers.aggregation import settings

from ogive.crypto.aggregation.settings import choose_neighbours, counted_on, failure_bits, graph, neighbours_of
from ogive.errors import ParameterError

SESSION = b"a session of 16!"


@pytest.mark.parametrize(("members", "neighbours"), [(range(1, 12), 4), (range(3, 40, 2), 6), (range(1, 9), 6)])
def test_everybody_has_so_many_neighbours_and_is_theirs(members, neighbours):
    found = graph(list(members), neighbours, SESSION)
    assert set(found) == set(members)
    for member, others in found.items():
        assert neighbours_of(member, list(members), neighbours, SESSION) == others
        assert len(set(others) - {member}) == len(others) == neighbours
        assert list(others) == sorted(others)
        assert all(member in found[other] for other in others)


def test_without_a_number_all_others_are_neighbours():
    assert graph([2, 5, 6], None, SESSION) == {2: (5, 6), 5: (2, 6), 6: (2, 5)}
    assert neighbours_of(5, [2, 5, 6], None, SESSION) == (2, 6)
    assert graph([2, 5, 6], 2, SESSION) == graph([2, 5, 6], None, SESSION)


def test_the_session_fixes_the_graph_and_every_circle_is_as_likely():
    assert graph(range(1, 30), 4, SESSION) == graph(range(1, 30), 4, SESSION)
    seen = Counter(tuple(sorted(graph([1, 2, 3, 4, 5], 2, number.to_bytes(16, "big"))[1])) for number in range(6000))
    # 6 pairs of neighbours, 1000 of each expected with standard deviation 29
    assert len(seen) == 6
    assert max(abs(count - 1000) for count in seen.values()) < 5 * 29


def failures(parties, neighbours, threshold, dropouts, colluding):
    """How often a random circle fails, by enumeration of all orders."""
    failed = 0
    orders = list(permutations(range(1, parties)))
    for order in orders:
        circle = (0, *order)
        place = {party: at for at, party in enumerate(circle)}
        near = {
            party: [
                circle[(place[party] + step) % parties] for step in range(-neighbours // 2, neighbours // 2 + 1) if step
            ]
            for party in circle
        }
        corrupt, gone = set(range(colluding)), set(range(colluding, colluding + dropouts))
        staying = [party for party in circle if party not in corrupt | gone]
        told = any(sum(other in corrupt for other in near[party]) >= threshold for party in staying)
        lost = any(sum(other not in gone for other in near[party]) < threshold for party in circle)
        reached = {staying[0]}
        for _ in staying:
            reached |= {other for party in reached for other in near[party] if other in staying}
        failed += told or lost or reached != set(staying)
    return Fraction(failed, len(orders))


@pytest.mark.parametrize(
    ("parties", "neighbours", "threshold", "dropouts", "colluding"),
    [
        (7, 2, 1, 1, 0),
        (7, 4, 2, 0, 2),
        (7, 4, 3, 1, 1),
        (8, 4, 2, 1, 1),
        (8, 6, 3, 1, 2),
        (8, 4, 4, 1, 0),
        (7, 4, 2, 0, 0),
    ],
)
def test_the_bound_holds_for_all_orders_of_a_few(parties, neighbours, threshold, dropouts, colluding):
    exact = failures(parties, neighbours, threshold, dropouts, colluding)
    bits = failure_bits(parties, neighbours, threshold, dropouts=dropouts, colluding=colluding)
    assert exact <= 2.0**-bits


def test_the_bound_is_not_far_from_what_happens_where_failures_can_be_seen():
    parties, neighbours, threshold, dropouts, colluding = 40, 8, 4, 4, 6
    rng = np.random.default_rng(5)
    failed, runs = 0, 4000
    steps = [step for step in range(-4, 5) if step]
    for _ in range(runs):
        kinds = rng.permutation([1] * colluding + [2] * dropouts + [0] * (parties - colluding - dropouts))
        around = np.stack([np.roll(kinds, step) for step in steps])
        told = ((around == 1).sum(axis=0)[kinds == 0] >= threshold).any()
        lost = ((around != 2).sum(axis=0) < threshold).any()
        failed += told or lost
    bits = failure_bits(parties, neighbours, threshold, dropouts=dropouts, colluding=colluding)
    assert failed / runs <= 2.0**-bits * 1.05
    assert failed / runs >= 2.0**-bits / 4


@pytest.mark.parametrize(
    ("parties", "dropouts", "colluding", "wanted"),
    [
        (501, 25, 50, (42, 25)),
        (1000, 50, 100, (46, 27)),
        (1000, 100, 333, (140, 96)),
        (10_000, 500, 1000, (56, 33)),
        (10_000, 1000, 500, (56, 26)),
    ],
)
def test_as_few_neighbours_are_chosen_as_are_enough(parties, dropouts, colluding, wanted):
    assert choose_neighbours(parties, dropouts=dropouts, colluding=colluding) == wanted
    neighbours, threshold = wanted
    terms = {"dropouts": dropouts, "colluding": colluding}
    assert (
        failure_bits(parties, neighbours, threshold, **terms)
        >= 40
        > failure_bits(parties, neighbours, threshold + 1, **terms)
    )
    fewer = [failure_bits(parties, neighbours - 2, each, **terms) for each in range(1, neighbours - 1)]
    # the terms of colluders are kept below 2^-42, which may cost two neighbours
    assert max(fewer) < 42


@pytest.mark.parametrize("parties", [501, 502, 1000, 3000, 10_000])
def test_a_graph_holds_one_colluder_in_twenty_whatever_is_stated(parties):
    neighbours, threshold = choose_neighbours(parties, dropouts=0, colluding=0)
    assert (neighbours, threshold) == choose_neighbours(parties, dropouts=0, colluding=-(-parties // 20))
    assert neighbours >= 1.9 * np.log2(parties)
    assert counted_on(parties, 0) == counted_on(parties, 1) == -(-parties // 20)
    assert counted_on(parties, parties // 2) == parties // 2
    assert failure_bits(parties, neighbours, threshold, dropouts=0, colluding=parties // 20) >= 40
    # the control: what would do if nobody colluded
    assert failure_bits(parties, 2, 2, dropouts=0, colluding=0) > 40
    assert failure_bits(parties, 2, 2, dropouts=0, colluding=parties // 20) == 0


def test_settings_refuse_a_graph_that_two_neighbours_could_open():
    with pytest.raises(ParameterError, match="take more neighbours, or another threshold"):
        settings(502, neighbours=2, threshold=2, confirmed=False)
    neighbours, threshold = choose_neighbours(502, dropouts=0, colluding=0)
    settings(502, neighbours=neighbours, threshold=threshold, confirmed=False)


def test_terms_that_no_graph_can_serve_are_refused():
    with pytest.raises(ParameterError, match="600 parties cannot spare 250 that leave where 250 may collude"):
        choose_neighbours(600, dropouts=250, colluding=250)
    assert failure_bits(600, 400, 200, dropouts=250, colluding=0) == 0, "more neighbours than stay"


def test_a_run_of_places_is_what_separates_a_circle():
    size, half = 11, 2
    for removed in combinations(range(size), 4):
        staying = [place for place in range(size) if place not in removed]
        reached = {staying[0]}
        for _ in staying:
            reached |= {
                other
                for place in reached
                for other in staying
                if min((place - other) % size, (other - place) % size) <= half
            }
        apart = reached != set(staying)
        run = any(all((place + step) % size in removed for step in range(half)) for place in range(size))
        assert run or not apart

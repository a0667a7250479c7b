"""What a check and an answer cost together: the specification's values, and realised costs by enumerating runs."""

import importlib.util
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from ogive.errors import ParameterError
from ogive.pate.costs import threshold as confident
from ogive.pate.costs.answers import ORDERS, logq_gnmax, rdp_gnmax
from ogive.pate.costs.exact import Check, rdp_exact
from ogive.pate.costs.threshold import check_tails, rdp_threshold, sup_threshold

_spec = importlib.util.spec_from_file_location("laws", Path(__file__).with_name("laws.py"))
laws = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(laws)

A = [200, 30, 10, 5, 5, 0, 0, 0, 0, 0]
B = [130, 90, 20, 10, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("votes", "joint", "expected", "total"),
    [
        (
            A,
            [0.000651316235873, 0.000929449219207],
            [0.000695725381421, 0.000992593776989],
            [0.00121367298507, 0.00167407644287],
        ),
        (
            B,
            [0.00181153535889, 0.00338191966474],
            [0.00177962373228, 0.0031143415315],
            [0.00517777777778, 0.00906111111111],
        ),
    ],
)
def test_values_of_the_specification(votes, joint, expected, total):
    orders = [8, 14]
    answers = rdp_gnmax(logq_gnmax([votes], 40), 40, orders)
    log_pass, _ = check_tails([max(votes)], 200, 150)
    check = rdp_threshold([max(votes)], 200, 150, orders, "theorem3")
    assert confident.joint([max(votes)], 200, 150, answers, orders)[0] == pytest.approx(joint, rel=1e-11, abs=0)
    assert confident.expected(check, log_pass, answers)[0] == pytest.approx(expected, rel=1e-11, abs=0)
    assert confident.realised(check, [True], answers)[0] == pytest.approx(total, rel=1e-11)
    assert np.all(confident.realised(check, [False], answers) == check)


def test_joint_is_between_the_check_and_the_sum():
    orders, counts = np.array([1.3, 5, 40]), np.arange(0, 41)
    answers = np.broadcast_to(orders / 25, (41, 3))
    check = rdp_threshold(counts, 30, 4, orders)
    found = confident.joint(counts, 30, 4, answers, orders)
    assert np.all(check <= found * (1 + 1e-12))
    assert np.all(found <= (check + answers) * (1 + 1e-12))
    assert np.all(found <= confident.joint(counts, 30, 4, answers, orders, two_sided=True) * (1 + 1e-12))
    assert confident.joint(counts, 30, 4, np.zeros(3), orders) == pytest.approx(check, rel=1e-10, abs=1e-18)


def test_nothing_overflows_and_small_costs_keep_their_digits():
    orders = np.array([1.01, 14, 1000])
    found = confident.joint([0, 10, 5000], 2500, 3, orders / 0.01, orders)
    assert np.all(np.isfinite(found))
    # the check never passes: of both costs next to nothing is left
    tiny = confident.joint([10], 900, 30, np.full(2, 1e-9), orders[:2])
    assert np.all((tiny >= 0) & (tiny < 1e-100))
    sure = confident.joint([1900], 10, 30, np.array([1e-30, 2e-30]), orders[:2])
    assert sure[0] == pytest.approx([1e-30, 2e-30], rel=1e-6, abs=0)


@pytest.mark.parametrize(
    ("votes", "threshold", "sigma_1", "sigma_2"),
    [
        ([4950, 50, 0], 4775, 5, 100),
        ([4900, 100, 0], 4000, 20, 100),
        ([4960, 30, 10], 4990, 1, 60),
        ([990, 6, 4], 700, 8, 30),
    ],
)
def test_joint_is_never_below_the_exact_cost_where_teachers_agree(votes, threshold, sigma_1, sigma_2):
    answers = rdp_gnmax(logq_gnmax([votes], sigma_2), sigma_2, ORDERS)
    check = Check(threshold, sigma_1)
    for two_sided in (False, True):
        true = rdp_exact([votes], sigma_2, ORDERS, check=check, two_sided=two_sided)[0]
        found = confident.joint([max(votes)], threshold, sigma_1, answers, ORDERS, two_sided=two_sided)[0]
        assert true.max() > 1e-3
        assert np.all(found >= true * (1 - 1e-9) - 1e-15)


def test_a_party_of_several_teachers():
    """Three votes of three teachers move like one vote of one, on a scale of a third."""
    orders = np.array([2.0, 9])
    answers = np.array([[0.02, 0.05]])
    assert confident.joint([21], 18, 6, answers, orders, group=3) == pytest.approx(
        confident.joint([7], 6, 2, answers, orders), rel=1e-12
    )
    there = confident.joint([21], 18, 6, answers, orders, two_sided=True, group=3)
    assert there == pytest.approx(confident.joint([7], 6, 2, answers, orders, two_sided=True), rel=1e-3)


@pytest.mark.parametrize("order", [1.5, 3.0, 8.0])
def test_realised_cost_is_a_supermartingale(order):
    """Adaptive runs of three queries: the next query depends on the last output; all runs are enumerated.

    E_D[exp((order - 1) (loss - cost))] <= 1 for every neighbour, which the bound on the realised loss follows from.
    """
    sigma_1, sigma_2, threshold = 3.0, 2.5, 3.0
    # what each of five teachers votes for in each of four queries, and the first teacher's other votes
    votes = np.array([[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 1, 2], [0, 0, 1, 0], [1, 0, 1, 2]])
    other = votes.copy()
    other[0] = [2, 1, 0, 1]
    here, there = (np.stack([np.bincount(row, minlength=3) for row in table.T]) for table in (votes, other))
    steps = [[laws.step_law(counts, sigma_2, threshold, sigma_1) for counts in table] for table in (here, there)]
    check = rdp_threshold(here.max(axis=1), threshold, sigma_1, [order])[:, 0]
    answers = rdp_gnmax(logq_gnmax(here, sigma_2), sigma_2, [order])[:, 0]

    def asked(outputs):
        return (len(outputs) + sum(outputs)) % 4

    expectation, worst, total = 0.0, 0.0, 0.0
    for outputs in itertools.product(range(4), repeat=3):
        log_p = loss = cost = 0.0
        for place, output in enumerate(outputs):
            query = asked(outputs[:place])
            log_p += steps[0][query][output]
            loss += steps[0][query][output] - steps[1][query][output]
            cost += check[query] + (answers[query] if output else 0)
        total += math.exp(log_p)
        expectation += math.exp(log_p + (order - 1) * (loss - cost))
        worst = max(worst, loss - cost)
        # Markov: the chance that the loss passes cost + ln(1/delta)/(order - 1)
    assert total == pytest.approx(1)
    assert expectation <= 1 + 1e-12
    if order < 2:
        assert worst > 0  # some runs lose more than they pay
        assert expectation > 0.3


def test_the_check_alone_would_not_pay_for_answers():
    """The same expectation without the answers' cost is above 1: the test above can fail."""
    order, counts, near = 3.0, (2, 2, 1), (1, 3, 1)
    here, there = (laws.step_law(votes, 1.0, 1.0, 1.5) for votes in (counts, near))
    check = rdp_threshold([2], 1.0, 1.5, [order])[0, 0]
    assert np.exp(order * here - (order - 1) * there - (order - 1) * check).sum() > 1


def test_integer_checks_are_priced_by_their_own_law():
    """The joint cost with a discrete Gaussian check is the divergence of the law itself."""
    counts, threshold, sigma = 9, 11, 2.5
    points = np.arange(-80, 81)
    law = np.exp(-(points**2) / (2 * sigma**2))
    law /= law.sum()

    def step(count):
        passed = law[count + points >= threshold].sum()
        return np.log([law[count + points < threshold].sum(), passed])

    for order in (1.5, 6.0):
        true = max(laws.divergence(step(counts), step(near), order) for near in (8, 10))
        found = confident.joint([counts], threshold, sigma, np.zeros(1), [order], noise="discrete")
        assert found[0, 0] == pytest.approx(true, rel=1e-9)
        assert true <= order / (2 * sigma**2)
        assert sup_threshold(threshold, sigma, [order], teachers=20, noise="discrete")[0] >= true


def test_refuses_answers_of_another_shape():
    with pytest.raises(ParameterError, match="answers must have shape"):
        confident.joint([3, 4], 2, 1, np.zeros((3, 2)), [2.0, 3.0])

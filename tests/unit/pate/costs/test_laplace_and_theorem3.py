"""LNMax and the general theorem: the specification's values, side conditions, and growth with q."""

import math

import numpy as np
import pytest
from helpers.scope import size

from ogive.errors import ParameterError
from ogive.pate.costs.answers import GnmaxBound, independent_lnmax, logq_lnmax, rdp_lnmax, theorem3

A = [200, 30, 10, 5, 5, 0, 0, 0, 0, 0]
B = [130, 90, 20, 10, 0, 0, 0, 0, 0, 0]
C = [250, *[0] * 9]
D = [60, 55, 45, 40, 30, 20, 0, 0, 0, 0]
E = [4200, 500, 200, 100, *[0] * 146]


@pytest.mark.parametrize(
    ("votes", "gamma", "expected"),
    [
        (A, 0.05, [0.00037285586305, 0.000404180154802, 0.00045734176626, 0.000712468784377]),
        (B, 0.05, [0.01, 0.025, 0.0384154443881, 0.0453359450918]),
        (C, 0.05, [2.55736302072e-05, 2.77350320878e-05, 3.14091600621e-05, 4.91499314628e-05]),
        (D, 0.05, [0.01, 0.025, 0.045, 0.1]),
        (E, 0.02, [1.14109750351e-32, 1.17698426309e-32, 1.22959583997e-32, 1.40810115332e-32]),
    ],
)
def test_values_of_the_specification(votes, gamma, expected):
    found = rdp_lnmax(logq_lnmax([votes], 1 / gamma), 1 / gamma, [2, 5, 9, 20], curve="paper")[0]
    assert found == pytest.approx(expected, rel=2e-10, abs=0)


def test_the_tight_curve_is_that_of_randomized_response():
    for epsilon in (0.01, 0.1, 1.0, 9.0):
        for order in (1.2, 2.0, 14.0, 300.0):
            p = math.exp(epsilon) / (1 + math.exp(epsilon))
            powers = [
                order * math.log(p) - (order - 1) * math.log(1 - p),
                order * math.log(1 - p) - (order - 1) * math.log(p),
            ]
            true = float(np.logaddexp(*powers)) / (order - 1)
            found = independent_lnmax(2 / epsilon, [order])[0]
            assert found == pytest.approx(true, rel=1e-9)
            assert found <= independent_lnmax(2 / epsilon, [order], curve="paper")[0] * (1 + 1e-12)


def test_theorem3_refuses_where_a_printed_condition_is_missing():
    # the printed conditions hold and A would be negative
    found = theorem3(math.log(0.5), 2, mu_1=10, epsilon_1=5, mu_2=2, epsilon_2=5)
    assert found == math.inf
    # q above the limit, order above mu_1, certainty
    assert theorem3(math.log(0.9), 2, mu_1=3, epsilon_1=0.1, mu_2=3, epsilon_2=0.01) == math.inf
    assert theorem3(-50, 4, mu_1=3, epsilon_1=0.1, mu_2=3, epsilon_2=0.01) == math.inf
    assert theorem3(0.0, 2, mu_1=3, epsilon_1=0.1, mu_2=3, epsilon_2=0.01) == math.inf
    assert math.isfinite(theorem3(-50, 2, mu_1=3, epsilon_1=0.1, mu_2=3, epsilon_2=0.01))


def test_theorem3_grows_with_q_up_to_its_limit():
    rng = np.random.default_rng(4)
    finite, times = 0, size(3000, part=600)
    for _ in range(times):
        mu_1, mu_2 = 1 + np.exp(rng.uniform(-2, 4, 2))
        epsilon_1, epsilon_2 = np.exp(rng.uniform(-6, 2, 2))
        order = rng.uniform(1.01, mu_1)
        logs = -np.geomspace(1e-3, 60, 200)[::-1]
        found = theorem3(logs, order, mu_1=mu_1, epsilon_1=epsilon_1, mu_2=mu_2, epsilon_2=epsilon_2)
        valid = np.isfinite(found)
        assert not np.any(np.diff(valid.astype(int)) > 0)  # once invalid, it stays so
        kept = found[valid]
        finite += kept.size
        assert np.all(np.diff(kept) >= -1e-12 * np.abs(kept[1:]) - 1e-14)
    assert finite > 50_000 * times / 3000


def test_gnmax_is_theorem3_at_its_own_orders():
    for sigma, order, log_q in [(40, 14, -9.0), (2, 3, -12.0), (100, 20.5, -300.0), (7, 1.5, -2.5)]:
        mu_2 = sigma * math.sqrt(-log_q)
        general = theorem3(
            log_q, order, mu_1=mu_2 + 1, epsilon_1=(mu_2 + 1) / sigma**2, mu_2=mu_2, epsilon_2=mu_2 / sigma**2
        )
        assert float(GnmaxBound(sigma, order).beta(log_q)) == pytest.approx(
            min(float(general), order / sigma**2), rel=1e-9, abs=0
        )


def test_lnmax_bound_holds_by_enumeration():
    # three classes, one vote moves: exact chances by summing the law of integer Laplace noise
    scale, reach = 1.5, 60
    points = np.arange(-reach, reach + 20)
    a = math.exp(-1 / scale)

    def law(counts):
        density = [(1 - a) / (1 + a) * a ** np.abs(points - count) for count in counts]
        below = [np.cumsum(part) for part in density]
        strict = [np.concatenate(([0.0], part[:-1])) for part in below]
        # ties go to the lowest class
        return np.array(
            [
                (density[i] * np.prod([(strict if j < i else below)[j] for j in range(3) if j != i], axis=0)).sum()
                for i in range(3)
            ]
        )

    histograms = [(i, j, 7 - i - j) for i in range(8) for j in range(8 - i)]
    laws = {counts: law(counts) for counts in histograms}
    dependent = 0
    for counts in histograms:
        log_q = logq_lnmax([counts], scale, noise="discrete")
        assert 1 - laws[counts][np.argmax(counts)] <= math.exp(log_q[0]) * (1 + 1e-12)
        for order in (1.2, 2.0, 5.0, 20.0):
            bound = rdp_lnmax(log_q, scale, [order])[0, 0]
            dependent += bound < independent_lnmax(scale, [order])[0]
            for near in histograms:
                if sum(abs(one - other) for one, other in zip(counts, near, strict=True)) == 2:
                    true = np.log((laws[counts] ** order * laws[near] ** (1 - order)).sum()) / (order - 1)
                    assert true <= bound + 1e-12
    assert dependent > 10


def test_refuses_what_is_no_guarantee():
    with pytest.raises(ParameterError, match="order above 1"):
        theorem3(-5, 2, mu_1=1, epsilon_1=1, mu_2=2, epsilon_2=1)
    with pytest.raises(ParameterError, match="both infinite"):
        theorem3(-5, 2, mu_1=math.inf, epsilon_1=1, mu_2=2, epsilon_2=1)
    with pytest.raises(ParameterError, match="curve must be"):
        independent_lnmax(3, [2], curve="loose")
    with pytest.raises(ParameterError, match="scale must be"):
        rdp_lnmax(np.array([-3.0]), -1, [2])

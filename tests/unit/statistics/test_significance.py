"""P-values of estimates count the noise, agree with SciPy where there is none, and are refused where they say nothing.

Level: rejections at 5 % of 100 whole releases under the null hypothesis must stay within 0.05 + 4 standard deviations,
13 of 100, or 5 of 25; p-values of the same releases that leave the noise out must be below 5 % in 20, or 6.
Seeds are fixed.
"""

import dataclasses
import math

import numpy as np
import pytest
from helpers.coverage import most
from helpers.scope import is_everything
from helpers.scope import size as runs_of
from scipy import stats

import ogive
from ogive.errors import ParameterError
from ogive.kernels.ranks import in_order_variance, tie_share
from ogive.noise import KeyedSource
from ogive.statistics.curve.bands import NoiseMaxima
from ogive.statistics.roc import area as roc_noise
from ogive.statistics.roc.area import (
    KNOWN_SIZES,
    KNOWN_SUM,
    NOTHING_KNOWN,
    SimulatedNoise,
    _bounded_tail,
    rank_test,
    simulate_noise,
)
from ogive.statistics.significance import HypothesisTest, beyond, laplace_sum_reach, laplace_sum_tail, p_value, sentence

RELEASES = runs_of(100, part=25)
MOST = int(0.05 * RELEASES + 4 * math.sqrt(0.0475 * RELEASES))
CONTROL = max(RELEASES // 5, MOST + 1)
CLEAR, PURE, ZCDP = ogive.Clear, ogive.PureDP, ogive.ZeroConcentratedDP
GRADES = (1, 2, 3, 4, 5)
CENSUS = ogive.Adjacency.ADD_OR_REMOVE


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(roc_noise, "MOST_SIMULATIONS", 499)


# Without noise


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("positive_when", ["high", "low"])
def test_a_clear_roc_curve_has_the_p_value_of_mann_and_whitney_with_ties(alternative, positive_when):
    rng = np.random.default_rng(1)
    scores, labels = rng.integers(0, 8, 300), rng.integers(0, 2, 300)
    roc = ogive.roc(scores, labels, grid="integers", bounds=(0, 8), positive_when=positive_when, trust=CLEAR)
    sign = 1 if positive_when == "high" else -1
    oracle = stats.mannwhitneyu(
        sign * scores[labels == 1],
        sign * scores[labels == 0],
        alternative=alternative,
        method="asymptotic",
        use_continuity=False,
    )
    test = roc.test(alternative=alternative)
    assert test.p_value == pytest.approx(oracle.pvalue)
    assert test.statistic == pytest.approx(roc.auc)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("kernel", ["kendall", "kendall_b", "gamma"])
def test_a_clear_tau_has_the_p_value_of_scipy_with_ties(kernel, alternative):
    rng = np.random.default_rng(2)
    one, other = rng.choice(GRADES, 200), rng.choice(GRADES, 200)
    tau = ogive.ustatistic((one, other), kernel, categories=GRADES, trust=CLEAR)
    oracle = stats.kendalltau(one, other, method="asymptotic", alternative=alternative)
    assert tau.test(alternative=alternative).p_value == pytest.approx(oracle.pvalue)
    assert ogive.UstatisticEstimate.from_json(tau.to_json()).test() == tau.test()


@pytest.mark.parametrize("public", [True, False])
def test_a_clear_auc_of_pairs_has_the_p_value_of_mann_and_whitney(public):
    rng = np.random.default_rng(3)
    scores, labels = rng.integers(0, 9, 250).astype(float), rng.integers(0, 2, 250)
    auc = ogive.ustatistic(scores, "auc", labels=labels, public_labels=public, bounds=(0, 9), trust=CLEAR)
    oracle = stats.mannwhitneyu(scores[labels == 1], scores[labels == 0], method="asymptotic", use_continuity=False)
    assert auc.test().p_value == pytest.approx(oracle.pvalue)


# Under the null hypothesis


def grades(rng, size):
    return rng.choice(GRADES, size), rng.choice(GRADES, size)


def seeded(rng):
    return KeyedSource(rng.bytes(32))


def roc(**asked):
    def release(rng):
        labels = (rng.random(800) < 0.4).astype(int)
        return ogive.roc(rng.random(800), labels, bounds=(0, 1), bins=32, source=seeded(rng), **asked)

    return release


def tau(size, *, kernel="kendall", **asked):
    return lambda rng: ogive.ustatistic(grades(rng, size), kernel, categories=GRADES, source=seeded(rng), **asked)


def auc(size, *, public, **asked):
    def release(rng):
        labels = (rng.random(size) < 0.4).astype(int)
        asked.setdefault("bounds", (0, 1))
        scores = rng.random(size)
        return ogive.ustatistic(scores, "auc", labels=labels, public_labels=public, source=seeded(rng), **asked)

    return release


def without_noise(estimate, test):
    """The p-value of somebody who takes the released number for the exact one."""
    if isinstance(estimate, ogive.RocEstimate):
        negatives, positives = estimate.classes
        error = math.sqrt((negatives + positives + 1) / (12 * negatives * positives))
    elif estimate.kernel.startswith("auc"):
        records = estimate.records
        sizes = estimate.classes or (0.6 * records, 0.4 * records)
        error = math.sqrt((records + 1) / (12 * sizes[0] * sizes[1]))
    else:
        records = estimate.records
        error = math.sqrt(2 * (2 * records + 5) / (9 * records * (records - 1)))
    return 2 * stats.norm.sf(abs(test.statistic - test.expected) / error)


@pytest.mark.parametrize(
    "release",
    [
        pytest.param(roc(privacy=PURE("0.3")), id="roc-private-labels"),
        pytest.param(roc(privacy=PURE("0.3"), public_labels=True), id="roc-public-labels"),
        pytest.param(roc(privacy=PURE("0.15"), adjacency=CENSUS), id="roc-private-sizes"),
        pytest.param(roc(privacy=PURE("0.8"), budget="split"), id="roc-split", marks=pytest.mark.everything),
        pytest.param(
            roc(privacy=PURE("0.3"), trust=ogive.Simulation(ogive.SecAgg, parties=3)),
            id="roc-secagg",
            marks=pytest.mark.everything,
        ),
        pytest.param(tau(500, privacy=PURE("0.1"), method="kernel"), id="tau-laplace"),
        pytest.param(tau(500, privacy=ZCDP("0.01"), method="kernel"), id="tau-gaussian"),
        pytest.param(tau(500, privacy=PURE("0.1"), method="kernel", kernel="kendall_b"), id="tau-b"),
        pytest.param(tau(500, privacy=PURE("0.3"), method="cells"), id="tau-cells"),
        pytest.param(tau(2000, privacy=PURE(1), trust=ogive.Local), id="tau-local"),
        pytest.param(tau(40, privacy=PURE(2), trust=ogive.Pairs), id="tau-pairs"),
        pytest.param(auc(400, public=True, privacy=PURE("0.1"), method="kernel"), id="auc-public"),
        pytest.param(auc(400, public=False, privacy=PURE("0.2"), method="kernel"), id="auc-private"),
        pytest.param(
            auc(2000, public=True, privacy=PURE(1), trust=ogive.Local, bins=16),
            id="auc-local",
            marks=pytest.mark.everything,
        ),
    ],
)
def test_p_values_are_not_too_small_under_the_null_hypothesis_and_those_that_ignore_noise_are(release):
    rng = np.random.default_rng(13)
    found = []
    for _ in range(RELEASES):
        estimate = release(rng)
        test = estimate.test()
        found.append((test.p_value, without_noise(estimate, test)))
    counted, ignored = np.array(found).T
    assert np.sum(counted <= 0.05) <= MOST
    assert np.sum(ignored <= 0.05) >= CONTROL
    assert np.sum(counted <= 0.5) >= CONTROL, "p-values of a test without power would be as small as never"


@pytest.mark.parametrize("privacy", [PURE("0.5"), ZCDP("0.02")])
def test_two_groups_with_one_gini_are_rarely_told_apart_and_two_with_different_ones_are(privacy):
    rng = np.random.default_rng(11)

    def gini(shape):
        incomes = np.clip(rng.gamma(shape, 0.2 / shape, 3000), 0, 1)
        return ogive.ustatistic(incomes, "gini", bounds=(0, 1), privacy=privacy)

    alike = [gini(2).test(gini(2)).p_value for _ in range(runs_of(100, part=35))]
    different = [gini(2).test(gini(1)).p_value for _ in range(20)]
    assert sum(p <= 0.05 for p in alike) <= most(len(alike), chance=2e-4)  # 14 of 100
    assert sum(p <= 0.05 for p in different) >= 18


# Power


def test_power_grows_with_the_number_of_records():
    """A shift of a quarter of a standard deviation, and a correlation of 0.2, at the 5 % level, 40 or 16 times."""
    rng = np.random.default_rng(12)

    def shifted(size):
        labels = rng.integers(0, 2, size)
        scores = np.clip(rng.normal(labels / 4, 1), -4, 4)
        return ogive.roc(scores, labels, bounds=(-4, 4), bins=32, privacy=PURE(1)).test().p_value

    def related(size):
        one = np.clip(rng.normal(size=size), -4, 4)
        other = np.clip(one / 5 + rng.normal(size=size), -4, 4)
        return ogive.ustatistic((one, other), "kendall", bounds=(-4, 4), privacy=PURE(1)).test().p_value

    runs = runs_of(40, part=16)
    for make in (shifted, related):
        few, some, many = (sum(make(size) <= 0.05 for _ in range(runs)) for size in (100, 500, 2500))
        assert few < some <= many
        assert some < many or not is_everything(), "of few releases all may be rejected"
        assert many >= 0.95 * runs


# What it is, and what is refused


def test_a_p_value_by_draws_is_the_average_of_the_tail_and_is_never_zero():
    assert p_value(0.0, 1.0, None, "two-sided") == 1
    assert p_value(1.96, 1.0, None, "two-sided") == pytest.approx(0.05, abs=1e-4)
    assert p_value(1.96, 1.0, None, "greater") == pytest.approx(0.025, abs=1e-4)
    assert p_value(1.96, 1.0, None, "less") == pytest.approx(0.975, abs=1e-4)
    draws = np.random.default_rng(4).normal(size=99_999)
    for alternative in ("two-sided", "greater", "less"):
        exact = p_value(-1.5, math.sqrt(2), None, alternative)
        assert p_value(-1.5, 1.0, draws, alternative) == pytest.approx(exact, abs=0.01)
        assert p_value(-1.5, 0.0, math.sqrt(2) * draws, alternative) == pytest.approx(exact, abs=0.01)
    assert p_value(1e9, 1.0, draws, "two-sided") == 1 / 100_000
    assert p_value(1e9, 1.0, draws, "two-sided", bounded=2) == 3 / 100_000
    assert math.isnan(p_value(math.nan, 1.0, None, "two-sided"))


def test_laplace_noise_has_heavier_tails_than_normal_noise_of_the_same_size():
    """The exact tail of a Laplace variable: exp(-sqrt(2) x) of x standard deviations, where sampling is negligible."""
    tau_of = tau(400, privacy=PURE("0.001"), method="kernel")(np.random.default_rng(5))
    [mean] = tau_of.means
    distance = 4 * mean.randomization_error
    far = dataclasses.replace(tau_of, value=distance, means=(dataclasses.replace(mean, value=distance),))
    exact = math.exp(-4 * math.sqrt(2))
    assert far.test().p_value == pytest.approx(exact, rel=0.02)
    assert far.test().p_value > 10 * 2 * stats.norm.sf(4)


@pytest.mark.parametrize("scales", [(1.0, 3.0), (2.0, 2.0), (2.0, 2.0, 0.5, 2.0), (4.0, 0.0)])
@pytest.mark.parametrize("normal", [0.0, 1.5])
def test_the_tail_of_normal_and_laplace_errors_is_exact_far_out(scales, normal):
    """Against a convolution on a grid; equal scales, and parts that are zero, are served too."""
    step, far = 0.01, 80.0
    grid = np.arange(-far, far + step / 2, step)
    law = np.zeros(len(grid))
    law[len(grid) // 2] = 1.0
    laws = [stats.laplace(scale=b) for b in scales if b] + ([stats.norm(scale=normal)] if normal else [])
    for each in laws:
        law = np.convolve(law, np.diff(each.cdf(np.append(grid - step / 2, far + step / 2))), mode="same")
    for t in (0.0, 1.0, 5.0, 20.0, 40.0):
        exact = law[grid > t + step / 2].sum() + law[np.abs(grid - t) <= step / 2].sum() / 2
        assert float(beyond(t, normal, np.array(scales))) == pytest.approx(exact, rel=0.03)
        assert float(beyond(-t, normal, np.array(scales))) == pytest.approx(1 - exact, rel=0.01)


@pytest.mark.parametrize("deviations", [(1.0,), (1.0, 1.0, 1.0), (1.0, 0.2, 0.2)])
def test_tails_of_sums_of_laplace_variables_are_bounded_by_their_variance(deviations):
    """By the exact tail; a bound for normal variables of the same variance would be too small far out."""
    scales, whole = np.array(deviations) / math.sqrt(2), math.hypot(*deviations)
    for normal in (0.0, 1.0):
        for t in (0.5, 2.0, 6.0, 15.0):
            exact = float(beyond(t, normal, scales))
            assert exact <= laplace_sum_tail(t, normal, whole)
    assert float(beyond(15.0, 0.0, scales)) > laplace_sum_tail(15.0, whole, 0.0)
    for tail in (1e-3, 1e-9):
        assert 2 * float(beyond(laplace_sum_reach(tail) * whole, 0.0, scales)) <= tail
    assert laplace_sum_reach(1e-3) < -math.log(1e-3) / math.sqrt(2) + 3


@pytest.mark.parametrize("known", [KNOWN_SIZES, KNOWN_SUM, NOTHING_KNOWN])
def test_the_bound_of_a_rank_test_is_above_the_simulated_tail_and_needs_all_parts(known):
    """Noise as large as the classes, so that what multiplies noise counts, with sampling of no size."""
    strategy = ogive.roc(
        np.linspace(0, 1, 60), np.arange(60) % 2, bounds=(0, 1), bins=16, privacy=PURE("0.2")
    ).negatives.strategy
    curves = np.linspace(2, 32, 16)[None] * np.ones((2, 1))
    noise = simulate_noise(strategy, curves, known=known, positive_when="high", simulations=4999)
    parts = noise.parts
    assert (parts.sizes > 0) == (known == KNOWN_SUM)
    linear_and_crossed = math.hypot(parts.linear, parts.crossed)
    assert linear_and_crossed == pytest.approx(float(noise.null.std()), rel=0.6 if known == KNOWN_SUM else 0.1)
    for quantile in (0.9, 0.99, 0.998):
        t = float(np.quantile(np.abs(noise.null), quantile))
        asked = t, (np.array([32.0, 32.0]), noise, KNOWN_SIZES, None)
        assert _bounded_tail(*asked, parts, "two-sided") >= 1 - quantile
    t = float(np.quantile(np.abs(noise.null), 0.998))
    asked = t, (np.array([32.0, 32.0]), noise, KNOWN_SIZES, None)
    small = in_order_variance(32.0, 32.0) ** 0.5
    assert small < t
    assert _bounded_tail(*asked, parts._replace(crossed=0.0, sizes=0.0, linear=parts.linear / 4), "two-sided") < 0.002


def test_strong_effects_have_p_values_below_what_simulations_can_show():
    rng = np.random.default_rng(31)
    labels = rng.integers(0, 2, 20_000)
    scores = np.clip(rng.normal(labels, 1), -4, 4)
    test = ogive.roc(scores, labels, bounds=(-4, 4), bins=32, privacy=PURE(1)).test()
    assert test.p_value < 1e-9
    assert test.p_value_is_bound
    assert test.shown() == "< 0.001"
    assert f"<= {test.p_value:.3g}" in str(test)


def test_a_p_value_that_a_simulation_cannot_show_is_a_bound():
    rng = np.random.default_rng(30)
    labels = rng.integers(0, 2, 600)
    weak = ogive.roc(rng.random(600), labels, bounds=(0, 1), bins=16, privacy=PURE(1)).test()
    assert not weak.p_value_is_bound
    assert "<=" not in str(weak)
    least = dataclasses.replace(weak, p_value=0.0015, p_value_is_bound=True)
    assert "p-value:" in str(least)
    assert "<= 0.0015" in str(least)
    assert "p <= 0.0015" in sentence(least)
    assert least.to_frame("pandas")["p_value_is_bound"][0]
    few = simulated(size=0, bins=0)
    found = rank_test(
        np.array([[0.0, 400.0], [400.0, 400.0]]), few, known=KNOWN_SIZES, total=None, positive_when="high",
        alternative="two-sided",
    )  # fmt: skip
    assert found.bound
    assert found.p_value == 2 / 100
    one = np.clip(rng.normal(size=2000), -4, 4)
    tau = ogive.ustatistic(
        (one, np.clip(one + rng.normal(size=2000), -4, 4)), "kendall", bounds=(-4, 4), privacy=PURE(1)
    )
    assert tau.test().p_value < 1e-10
    assert not tau.test().p_value_is_bound


def simulated(*, size, bins):
    """Simulated noise that moves the size of a class, or a bin, by at most so much, and the statistic not at all."""
    nothing, maxima = np.zeros(99), NoiseMaxima(*np.zeros((4, 99)))
    last, widest = np.linspace(-size, size, 99), np.linspace(0, bins, 99)
    return SimulatedNoise(maxima, last, np.zeros((2, 99)), nothing, nothing, widest)


def test_ties_of_bins_count_only_as_far_as_the_noise_leaves_no_doubt():
    """Two bins with half of 4000 records each: of a bin of 2000 that may be off by 500 only 1500 are tied for sure."""
    curves = np.array([[1000.0, 2000.0], [1000.0, 2000.0]])
    asked = {"known": KNOWN_SIZES, "total": None, "positive_when": "high", "alternative": "two-sided"}
    for moved, tied in ((0, 2000), (500, 1500), (2500, 0)):
        expected = in_order_variance(2000, 2000, tie_share(np.array([tied, tied]), 4000))
        found = rank_test(curves, simulated(size=0, bins=moved), **asked)
        assert found.standard_error == pytest.approx(math.sqrt(expected) / 2000**2)


def test_private_class_sizes_count_as_large_as_the_noise_allows():
    """1000 and 3000 records that may be off by 200: of a known sum 1200 and 2800, of an unknown one 1200 and 3200."""
    curves = np.array([[500.0, 1000.0], [1500.0, 3000.0]])
    asked = {"positive_when": "high", "alternative": "two-sided"}
    for known, total, sizes in (
        (KNOWN_SIZES, None, (1000, 3000)),
        (KNOWN_SUM, 4000, (1200, 2800)),
        (NOTHING_KNOWN, None, (1200, 3200)),
    ):
        found = rank_test(curves, simulated(size=200, bins=9999), known=known, total=total, **asked)
        assert found.standard_error == pytest.approx(math.sqrt(in_order_variance(*sizes)) / (1000 * 3000))
    balanced = np.array([[950.0, 1900.0], [1050.0, 2100.0]])
    found = rank_test(balanced, simulated(size=200, bins=9999), known=KNOWN_SUM, total=4000, **asked)
    assert found.standard_error == pytest.approx(math.sqrt(in_order_variance(2000, 2000)) / (1900 * 2100))


def test_rounding_counts_against_a_difference():
    rng = np.random.default_rng(7)
    asked = {"bounds": (0, 1), "bins": 4, "privacy": PURE(5), "trust": ogive.Local}
    one, other = (ogive.ustatistic(rng.beta(2, shape, 4000), "gini", **asked) for shape in (2, 2.2))
    test = one.test(other)
    assert one.quantization + other.quantization > abs(test.statistic)
    assert test.p_value == 1
    assert test.statistic == pytest.approx(one.value - other.value)


def test_a_test_is_shown_in_text_page_frame_and_notebook():
    rng = np.random.default_rng(8)
    found = [
        ogive.roc(rng.random(500), rng.integers(0, 2, 500), bounds=(0, 1), bins=16, privacy=PURE(1)),
        tau(500, privacy=PURE(1))(rng),
    ]
    for estimate in found:
        test = estimate.test()
        shown = f"p = {test.p_value:.2g}" if test.p_value >= 0.001 else "p < 0.001"
        assert f"{test.hypothesis}: {shown} (noise included)" in str(estimate)
        assert test.hypothesis in test._repr_html_()
        [p] = test.to_frame("pandas")["p_value"]
        assert p == test.p_value
        assert test.provenance == estimate.provenance


def test_the_plot_shows_the_statistic_and_what_is_expected():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    test = tau(500, privacy=PURE(1))(np.random.default_rng(9)).test()
    axes = test.plot()
    lines = [line.get_xdata() for line in axes.get_lines()]
    assert any(len(set(x)) == 1 and x[0] == test.statistic for x in lines)
    assert any(np.allclose(x, [-2 * test.standard_error, 2 * test.standard_error]) for x in lines)
    pyplot.close("all")
    nothing = dataclasses.replace(test, p_value=math.nan)
    with pytest.raises(ParameterError, match="there is no statistic to draw"):
        nothing.plot()
    assert "no statistic" in str(nothing)


def test_what_cannot_be_tested_is_refused_in_one_line():
    rng = np.random.default_rng(13)
    gini = ogive.ustatistic(rng.random(100), "gini", bounds=(0, 1), privacy=PURE(1))
    related = tau(100, privacy=PURE(1))(rng)
    with pytest.raises(ParameterError, match="no value that tells of no relation"):
        gini.test()
    with pytest.raises(ParameterError, match="of the same kernel, gini, only"):
        gini.test(related)
    with pytest.raises(ParameterError, match="must be an estimate of the same kernel, got float"):
        gini.test(0.3)
    with pytest.raises(ParameterError, match="alternative"):
        related.test(alternative="larger")
    one = ogive.roc(rng.random(200), rng.integers(0, 2, 200), bounds=(0, 1), bins=8, privacy=PURE(1))
    rows = one.with_provenance(
        dataclasses.replace(one.provenance, adjacency=CENSUS, person="who", max_rows_per_person=2)
    )
    with pytest.raises(ParameterError, match="kept up to 2 of each person"):
        rows.test()
    assert "test:" in str(one)
    assert "test:" not in str(rows)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        HypothesisTest("h", "n", 1.0, 0.0, 1.0, 1.5, "two-sided", "m")


def test_a_curve_that_is_hidden_by_noise_has_no_p_value():
    rng = np.random.default_rng(14)
    hidden = ogive.roc(rng.random(50), rng.integers(0, 2, 50), bounds=(0, 1), bins=8, privacy=PURE("0.01"))
    assert not hidden.defined
    assert math.isnan(hidden.test().p_value)


def test_the_tail_of_many_equal_laplace_variables_is_not_lost_to_rounding() -> None:
    random = np.random.default_rng(5)
    for parts in (6, 7, 8, 10):
        drawn = random.normal(size=100_000) + random.laplace(size=(parts, 100_000)).sum(axis=0)
        for t in (1.0, 5.0):
            simulated = float(np.mean(drawn > t))
            assert 0.97 * simulated < float(beyond(t, 1.0, np.ones(parts))) < 1.25 * simulated

"""Curves by a fitted density: its algebra against dense matrices, what it gains, and what keeps it safe."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size as runs_of
from helpers.smoothing import designed, matrices, noisy_answer

import ogive
from ogive.errors import UnsupportedError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.statistics.methods.base import Shapes
from ogive.strategies import density, design_hats, design_reports, smoothing
from ogive.strategies.density import STIFF, Prior, fit
from ogive.strategies.reported import expected_tree
from ogive.strategies.smoothing import DENSITY, automatic_smoothing, fitted_curve, smooth

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE


def hats(product, records, size=1024, adjacency=REPLACE):
    return design_hats(size, privacy=PureDP(Fraction(product, records)), adjacency=adjacency)


def dense(strategy):
    """Weights and variances of the measurements, as a matrix, on the scale where a bin weighs at most 1."""
    measured, _, variances = matrices(strategy)
    scales = smoothing._likelihood(strategy)[1]
    return measured / scales[:, None], variances / scales**2


@pytest.mark.parametrize("name", ["hats", "tree"])
@pytest.mark.parametrize("size", [1, 7, 100, 300])
def test_the_likelihood_is_that_of_dense_matrices(name, size):
    strategy = designed(name, size, REPLACE)
    likelihood, scales = smoothing._likelihood(strategy)
    rows, variances = dense(strategy)
    precision = rows.T @ (rows / variances[:, None])
    rng = np.random.default_rng(1)
    answer, counts = rng.normal(size=len(rows)), rng.random(size)
    np.testing.assert_allclose(likelihood.weigh(answer), rows.T @ (answer / variances), atol=1e-12)
    np.testing.assert_allclose(likelihood.weigh(likelihood.rows @ counts), precision @ counts)
    np.testing.assert_allclose(likelihood.diagonal, np.diag(precision))
    even = (np.eye(len(likelihood.widths)) / likelihood.widths)[:, likelihood.group]
    np.testing.assert_allclose(likelihood.precision, even @ precision @ even.T, atol=1e-12)
    np.testing.assert_allclose(likelihood.means(counts), even @ counts)
    np.testing.assert_array_equal(
        strategy.measure(np.eye(size, dtype=np.int64)[size // 2]) / scales, rows[:, size // 2]
    )


@pytest.mark.parametrize("prior", [STIFF, Prior(1, 3), Prior(2, 10)], ids=str)
def test_a_fit_is_the_most_probable_density_and_its_evidence_laplaces(prior):
    rng = np.random.default_rng(2)
    strategy = hats(300, 3000, 200)
    counts = rng.multinomial(3000, np.exp(-np.arange(200) / 30) / np.exp(-np.arange(200) / 30).sum())
    likelihood, scales = smoothing._likelihood(strategy)
    answer = noisy_answer(strategy, counts, rng) / scales
    found = fit(likelihood, likelihood.means(likelihood.weigh(answer)), 3000.0, prior)
    rows, variances = dense(strategy)
    t = (np.arange(200) + 0.5) / 200
    k = np.arange(1, 97)
    deviations = np.concatenate([[10, 10], prior.strength * k ** -float(prior.smoothness)])
    kept = deviations > 0.03
    terms = np.column_stack([2 * t - 1, (2 * t - 1) ** 2, np.sqrt(2) * np.cos(np.pi * np.outer(t, k))])[:, kept]

    def objective(coefficients):
        heights = terms @ coefficients
        shares = np.exp(heights) / np.exp(heights).sum()
        wrong = answer - rows @ (3000 * shares)
        return (wrong**2 / variances).sum() / 2 + ((coefficients / deviations[kept]) ** 2).sum() / 2

    best = found.coefficients[kept]
    assert not found.coefficients[~kept].any()
    least = objective(best)
    for direction in np.eye(kept.sum())[:12] * deviations[kept]:
        for step in (0.3, -0.3):
            # within what the steps stop at, nothing near is more probable
            assert objective(best + step * direction) > least - 0.05
    slopes = 3000 * (np.diag(found.shares) - np.outer(found.shares, found.shares)) @ terms * deviations[kept]
    curvature = slopes.T @ (rows.T @ (rows / variances[:, None])) @ slopes + np.eye(kept.sum())
    expected = (answer**2 / variances).sum() / 2 - least - np.linalg.slogdet(curvature)[1] / 2
    assert found.evidence == pytest.approx(expected, abs=0.3)


def test_the_haar_transform_is_orthonormal_and_inverted():
    rng = np.random.default_rng(3)
    for size in (1, 2, 5, 64, 100):
        curve = rng.normal(size=size)
        coefficients = density.haar(curve)
        assert sum(float(np.square(part).sum()) for part in coefficients) == pytest.approx(
            float(np.square(curve).sum())
        )
        nothing = [np.zeros(len(part)) for part in coefficients]
        np.testing.assert_allclose(density.kept_residual(curve, nothing), curve)


def test_energies_are_those_of_the_noise():
    strategy = designed("hats", 128, REPLACE)
    runs = np.stack(
        [
            strategy.estimate(noisy_answer(strategy, np.zeros(128, np.int64), np.random.default_rng(seed)), 0)
            for seed in range(600)
        ]
    )
    found = smoothing._energies(strategy, True)
    for part, energies in zip(density.haar(runs), found, strict=True):
        # sums of 400 and 600 squares
        assert np.square(part).mean(axis=0).sum() == pytest.approx(energies.sum(), rel=0.3)


def test_noise_is_dropped_from_a_residual_and_a_step_is_kept():
    rng = np.random.default_rng(4)
    energies = [np.ones(len(part)) for part in density.haar(np.zeros(256))]
    noise = rng.normal(size=256)
    step = 20.0 * (np.arange(256) >= 77)
    assert np.square(density.kept_residual(noise, energies)).sum() < 0.1 * np.square(noise).sum()
    kept = density.kept_residual(step + noise, energies)
    assert np.square(kept - step).sum() < np.square(noise).sum()


def errors(names, product, runs, records=20_000, size=1024):
    """Root mean squared error and KS of shrinkage and of a density on public shapes, shape (shapes, 2, 2)."""
    shapes = Shapes(names, runs)
    strategy = hats(product, records, size)
    rng = np.random.default_rng(5)
    found = np.zeros((len(names), 2, 2))
    for at, samples in enumerate(shapes.counts(size, records)):
        for counts in samples:
            truth = np.cumsum(counts)
            answer = noisy_answer(strategy, counts, rng)
            for kind in (0, 1):
                curve = smooth(strategy, answer, total=records, kind=("shrinkage", "density")[kind])
                gap = (curve - truth) / records
                found[at, kind] += np.mean(gap**2) / runs, np.abs(gap).max() / runs
    found[:, :, 0] = np.sqrt(found[:, :, 0])
    return found


SMOOTH = ("normal", "beta", "uniform", "exponential")
ATOMS = ("lowest", "constant", "zeros", "half", "several", "rounded")


def test_smooth_shapes_gain_and_atoms_lose_little():
    smoother = errors(SMOOTH, 1000, runs_of(8, part=2))
    gain = np.exp(np.log(smoother[:, 1] / smoother[:, 0]).mean(axis=0))
    assert gain[0] < 0.75
    assert gain[1] < 0.75
    harder = errors(ATOMS, 300, runs_of(4, part=1))
    assert (harder[:, 1, 1] < 1.9 * harder[:, 0, 1]).all(), harder
    assert np.exp(np.log(harder[:, 1, 1] / harder[:, 0, 1]).mean()) < 1.1


def test_without_atoms_a_density_fails_where_most_records_are_on_one_value(monkeypatch):
    monkeypatch.setattr(density, "_MOST", 0)
    found = errors(("constant", "half"), 300, 3)
    assert (found[:, 1, 1] > 2 * found[:, 0, 1]).any()


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("records", [0, 1, 50])
def test_few_records_under_much_noise_give_a_valid_curve(adjacency, records):
    rng = np.random.default_rng(6)
    strategy = design_hats(100, privacy=PureDP("0.01"), adjacency=adjacency)
    counts = rng.multinomial(records, np.full(100, 0.01))
    total = records if adjacency is REPLACE else None
    curve = fitted_curve(strategy, noisy_answer(strategy, counts, rng), total)
    assert np.isfinite(curve).all()
    assert (np.diff(curve) >= 0).all()
    assert total is None or curve[-1] == total


def test_a_guarantee_that_hides_nothing_still_gives_a_curve():
    values = np.random.default_rng(7).integers(0, 100, 10**5)
    curve = ogive.ecdf(values, bounds=(0, 100), bins=100, privacy=PureDP(1000), method="hat_ls", smooth="density")
    assert np.abs(curve.probabilities - np.cumsum(np.bincount(values, minlength=101)[1:]) / 10**5).max() < 0.02


def test_auto_takes_a_density_where_noise_is_neither_loud_nor_quiet():
    def taken(product, **others):
        strategy = hats(product, 1000, **others)
        return automatic_smoothing(strategy, strategy.measure(np.full(strategy.size, 1000 // strategy.size + 1)), 1000)

    assert [taken(product) for product in (20, 30, 100, 300, 3000, 30_000)] == [
        "shrinkage", DENSITY, DENSITY, DENSITY, DENSITY, "shrinkage",
    ]  # fmt: skip
    assert taken(300, size=8) == "shrinkage"
    private = hats(300, 1000, adjacency=ADD)
    assert automatic_smoothing(private, private.measure(np.ones(1024, np.int64)), None) == DENSITY
    assert automatic_smoothing(private, private.measure(np.zeros(1024, np.int64)), None) != DENSITY
    assert automatic_smoothing(designed("square_root", 64, REPLACE), np.zeros(64, np.int64), 1000) != DENSITY


@pytest.mark.parametrize(("people", "taken"), [(200, False), (3000, True)], ids=["loud", "quiet"])
def test_reports_get_a_density_up_to_noise_of_a_fifth_of_the_records_and_hats_up_to_more(people, taken):
    reports = expected_tree(design_reports(256, Fraction(1)), people)
    even = reports.measure(np.full(256, people // 256 + 1))
    share = smoothing.deviation(reports, total_known=True) / people
    assert (smoothing.QUIETEST < share < smoothing.LOUDEST_REPORTS) is taken
    assert share < smoothing.LOUDEST
    assert (automatic_smoothing(reports, even, people) == DENSITY) is taken


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("parties", [1, 3])
def test_only_the_smoothing_is_another(adjacency, parties):
    values = np.random.default_rng(8).normal(50, 10, 3000)

    def released(**options):
        trust = ogive.Central({"x": values})
        if parties > 1:
            trust = ogive.Servers({"x": values})
        return ogive.release(
            ogive.Ecdf("x", bounds=(0, 100), bins=200, **options),
            trust=trust,
            privacy=PureDP("0.1"),
            adjacency=adjacency,
            source=KeyedSource(bytes(32)),
        )

    ours = released(method="auto", expected_records=3000)
    plain = released(method="hat_ls")
    assert (ours.smoothing, plain.smoothing) == ("density", "shrinkage")
    assert ours.strategy == plain.strategy
    if parties == 1:  # servers draw noise of their own
        np.testing.assert_array_equal(ours.raw, plain.raw)
        np.testing.assert_array_equal(ours.band().low, plain.band().low)
        assert not np.array_equal(ours.cumulative, plain.cumulative)


def test_it_can_be_named_under_a_concentrated_guarantee_and_is_refused_for_path_noise():
    values = np.random.default_rng(9).normal(50, 10, 3000)
    curve = ogive.ecdf(values, bounds=(0, 100), bins=200, privacy=ZeroConcentratedDP("0.01"), smooth="density")
    assert curve.smoothing == "density"
    assert curve.strategy.name in ("hat_ls", "tree_ls")
    with pytest.raises(
        UnsupportedError, match="density smoothing is offered for hat_ls, tree_ls and reports, not for path"
    ):
        ogive.ecdf(values, bounds=(0, 100), bins=200, privacy=PureDP(1), method="path", smooth="density")


@pytest.mark.parametrize("fails", ["factor", "value", "nan"])
def test_what_was_paid_for_is_not_lost_where_no_density_is_fitted(monkeypatch, fails):
    def histogram(fitting):
        if fails == "factor":
            raise np.linalg.LinAlgError("not positive definite")
        if fails == "value":
            raise ValueError("array must not contain infs or NaNs")
        return np.full(fitting.likelihood.size, np.nan)

    monkeypatch.setattr("ogive.strategies.density.Fitting.histogram", histogram)
    values = np.random.default_rng(3).normal(50, 10, 2_000).clip(0, 100)
    curve = ogive.release(
        ogive.Ecdf("x", (0, 100)),
        trust=ogive.Central({"x": values}),
        privacy=PureDP("0.2"),
        source=KeyedSource.from_seed(1),
    )
    assert curve.smoothing == "isotonic"
    assert np.all(np.diff(curve.probabilities) >= 0)
    assert curve(50) == pytest.approx(0.5, abs=0.1)

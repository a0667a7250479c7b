"""Curves by projection: estimates against quadrature, noise against its covariance, calibration, refusals."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.projection_bound import l2_error_bound
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.accounting import covers, delta_of_gaussian, gaussian_mu, group_loss
from ogive.errors import DataError, ParameterError, ScaleError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource, Skellam
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.strategies import Approximating, OrthogonalProjection, design_projection, strategy_from_dict
from ogive.strategies.projection.features import BASES, whitening
from ogive.strategies.projection.strategy import usual_degree

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
APPROXIMATE, CONCENTRATED, PURE = ApproxDP("0.1", "1e-6"), ZeroConcentratedDP("0.2"), PureDP("0.5")
GRANTS = [APPROXIMATE, ApproxDP(2, "1e-9"), ApproxDP(1, "1e-14"), CONCENTRATED, PURE]
VARIANTS = [
    ("legendre", "shaped"),
    ("legendre", "isotropic"),
    ("legendre", "moments"),
    ("sine", "shaped"),
    ("sine", "isotropic"),
    ("cosine", "shaped"),
    ("cosine", "isotropic"),
    ("splines", "shaped"),
    ("splines", "isotropic"),
]


def design(size=64, privacy=CONCENTRATED, adjacency=REPLACE, **options):
    return design_projection(size, privacy=privacy, adjacency=adjacency, **options)


@pytest.mark.covering(privacy=str)
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(("basis", "noise"), VARIANTS)
@pytest.mark.parametrize("privacy", GRANTS, ids=str)
def test_designs_spend_what_is_granted_and_hardly_less(privacy, basis, noise, adjacency):
    options = {"basis": basis, "noise": noise, "degree": 6}
    if basis == "splines" and isinstance(privacy, PureDP):
        with pytest.raises(ParameterError, match="splines are for Gaussian noise"):
            design(64, privacy, adjacency, **options)
        return
    strategy = design(64, privacy, adjacency, **options)
    assert isinstance(strategy, Approximating)
    assert strategy_from_dict(strategy.to_dict()) == strategy
    assert covers(privacy, strategy.loss(adjacency))
    less = type(privacy)(*(value * Fraction(9999, 10000) for value in vars(privacy).values()))
    assert not covers(less, strategy.loss(adjacency))
    if adjacency is ADD:  # who hides a record that comes or goes hides a replaced one too, at less than twice the loss
        replaced, twice = strategy.loss(REPLACE), group_loss(strategy.loss(ADD), 2)
        assert covers(twice, replaced) if isinstance(privacy, PureDP) else replaced.mu_squared < twice.mu_squared
    else:
        with pytest.raises(ParameterError, match="is designed for"):
            strategy.loss(ADD)


@pytest.mark.parametrize("privacy", [APPROXIMATE, CONCENTRATED, PURE], ids=str)
def test_rows_of_one_person_are_paid_for_together(privacy):
    for rows in (2, 7):
        strategy = design(64, privacy, ADD, degree=5, rows=rows)
        assert covers(privacy, group_loss(strategy.loss(ADD), rows))
        assert not covers(privacy, group_loss(strategy.loss(ADD), rows + 1))
        single = design(64, privacy, ADD, degree=5)
        assert float(strategy.law.variance) == pytest.approx(rows**2 * single.law.variance, rel=1e-6)


def test_noise_of_an_approximate_grant_is_that_of_the_exact_gaussian_calibration():
    for epsilon, delta in [("0.1", "1e-6"), ("1", "1e-6"), ("5", "1e-9")]:
        grant = ApproxDP(epsilon, delta)
        loss = design(64, grant, degree=6).loss(REPLACE)
        assert math.sqrt(loss.mu_squared) == pytest.approx(gaussian_mu(grant.epsilon, grant.delta), rel=1e-5)
        assert 0.999 * grant.delta < delta_of_gaussian(loss, grant.epsilon) <= grant.delta
    # concentrated privacy that implies the same would take more
    assert float(design(64, ApproxDP(1, "1e-6"), degree=6).loss(REPLACE).mu_squared) / 2 > 0.027


def exact_coefficients(counts, basis, degree):
    """Coefficients of the cumulative count by quadrature piece by piece between the bins' middles."""
    size = len(counts)
    knots = np.concatenate(([-1.0], (2 * np.arange(size) + 1 - size) / size, [1.0]))
    levels = np.concatenate(([0], np.cumsum(counts)))
    nodes, weights = np.polynomial.legendre.leggauss(24)
    total = np.zeros(degree + 1)
    for low, high, level in zip(knots[:-1], knots[1:], levels, strict=True):
        for part in range(4):  # splines have knots between
            a, b = low + (high - low) * part / 4, low + (high - low) * (part + 1) / 4
            points = (a + b) / 2 + (b - a) / 2 * nodes
            height = level - counts.sum() * (1 + points) / 2 if BASES[basis].pinned else level
            total += BASES[basis].values(points, degree) @ (weights * (b - a) / 2 * height)
    return total


@pytest.mark.covering
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(("basis", "noise"), VARIANTS)
def test_noiseless_answers_decode_to_the_projection_of_the_data(basis, noise, adjacency):
    degree, size = 6, 40
    counts = np.random.default_rng(3).integers(0, 50, size=size)
    counts[[0, 17, 39]] = 300, 0, 200
    total = int(counts.sum())
    strategy = design(size, adjacency=adjacency, basis=basis, noise=noise, degree=degree, bits=30)
    known = total if adjacency is REPLACE else None
    answer = strategy.measure(counts)
    np.testing.assert_array_equal(answer, strategy.features @ counts)
    wanted = exact_coefficients(counts, basis, degree)
    tolerance = 1e-4 if noise == "moments" else 1e-5
    np.testing.assert_allclose(strategy.coefficients(answer, known), wanted, atol=tolerance)
    ends = 2 * np.arange(1, size + 1) / size - 1
    curve = BASES[basis].values(ends, degree).T @ wanted + (total * (1 + ends) / 2 if BASES[basis].pinned else 0)
    curve[-1] = total
    estimate = strategy.estimate(np.stack([answer, answer]), known)
    np.testing.assert_allclose(estimate, [curve, curve], atol=10 * tolerance)


def test_projection_of_a_smooth_distribution_follows_it():
    grid = (np.arange(1, 513) - 0.5) / 512
    density = grid * (1 - grid) ** 4
    counts = np.rint(1e7 * density / density.sum()).astype(np.int64)
    truth = np.cumsum(counts) / counts.sum()
    errors = {}
    for basis in BASES:
        strategy = design(512, basis=basis, degree=12)
        total = int(counts.sum())
        errors[basis] = np.abs(strategy.estimate(strategy.measure(counts), total) / total - truth).max()
    # the density vanishes at both ends, and has a slope at one
    assert errors["legendre"] < 2e-3
    assert max(errors.values()) < 6e-3


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("total_known", [True, False])
@pytest.mark.parametrize("privacy", [CONCENTRATED, PURE], ids=["gaussian", "laplace"])
@pytest.mark.parametrize("basis", ["legendre", "sine"])
def test_variance_is_that_of_the_estimate(basis, privacy, total_known, adjacency):
    if basis == "sine" and adjacency is REPLACE and not total_known:
        return
    strategy = design(30, privacy, adjacency, basis=basis, degree=5)
    total = 1000 if total_known else None
    zero = strategy.estimate(np.zeros(strategy.levels[0].nodes, dtype=np.int64), total)
    units = np.eye(strategy.levels[0].nodes, dtype=np.int64) * 2**40
    slopes = (strategy.estimate(units, total) - zero) / 2**40
    wanted = (slopes**2).sum(axis=0) * strategy.law.variance
    np.testing.assert_allclose(strategy.variance(total_known=total_known), wanted, rtol=1e-6, atol=1e-9)


def test_a_known_total_lowers_the_variance_of_a_design_that_counts():
    strategy = design(30, adjacency=ADD, degree=5)
    with_total, without = (strategy.variance(total_known=known) for known in (True, False))
    assert with_total[-1] == 0 < without[-1]
    assert (with_total <= without + 1e-9).all()
    answer = strategy.measure(np.full(30, 10))
    assert strategy.estimate(answer, 300)[-1] == 300
    # a total 5 above what was counted moves the other points the same way
    moved = strategy.estimate(answer, 305) - strategy.estimate(answer, 300)
    assert moved[-1] == 5
    assert moved[15] > 0.5


@pytest.mark.parametrize("adjacency", Adjacency)
def test_drawn_noise_has_the_stated_covariance(adjacency):
    strategy = design(64, APPROXIMATE, adjacency, degree=6)
    draws = 100_000
    noise = strategy.law.sample(draws * strategy.levels[0].nodes, source=KeyedSource(bytes(32)))
    answers = strategy.spread((noise.reshape(draws, -1),))
    coefficients = strategy.coefficients(answers, None)
    matrix = whitening(strategy._form)
    start = 1 if adjacency is ADD else 0
    wanted = np.linalg.inv(matrix.T @ matrix)[start:, start:] * (float(strategy.law.sigma) / 2**strategy.bits) ** 2
    found = coefficients.T @ coefficients / draws
    scale = np.sqrt(np.diag(wanted))
    assert np.abs((found - wanted) / np.outer(scale, scale)).max() < 0.02
    # the control: independent noise of the same variances has another covariance
    assert np.abs((found - np.diag(np.diag(wanted))) / np.outer(scale, scale)).max() > 0.1


def test_curves_of_the_pinned_basis_end_where_distributions_do():
    strategy = design(2**12, basis="sine", degree=8)
    answers = np.random.default_rng(0).integers(-(2**30), 2**30, size=(20, 9))
    curves = strategy.estimate(answers, 500)
    assert (curves[:, -1] == 500).all()
    start = strategy._form.curve(np.array([-1.0]))
    assert start[0] == pytest.approx([0], abs=1e-15)
    np.testing.assert_allclose(start[1], 0, atol=1e-14)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_measurements_of_parts_add_up(data):
    basis, noise = data.draw(st.sampled_from(VARIANTS))
    adjacency = data.draw(st.sampled_from(Adjacency))
    strategy = design(33, adjacency=adjacency, basis=basis, noise=noise, degree=4)
    parts = data.draw(st.lists(st.lists(st.integers(0, 10**6), min_size=33, max_size=33), min_size=2, max_size=3))
    counts = np.array(parts)
    together = strategy.measure(counts.sum(axis=0))
    np.testing.assert_array_equal(sum(strategy.measure(part) for part in counts), together)


@pytest.mark.parametrize("noise", ["shaped", "isotropic", "moments"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_moments_are_those_of_the_bins_middles(noise, adjacency):
    strategy = design(50, adjacency=adjacency, noise=noise, degree=6, bits=30)
    counts = np.random.default_rng(8).integers(0, 40, size=50)
    middles = (2 * np.arange(50) + 1 - 50) / 50
    total = int(counts.sum()) if adjacency is REPLACE else None
    found = strategy.moments(strategy.measure(counts), total)
    wanted = [(counts * middles**i).sum() / counts.sum() for i in range(1, 8)]
    np.testing.assert_allclose(found.values, wanted, atol=1e-7)
    assert found.values.shape == found.noise_sd.shape == (7,)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_noise_of_moments_is_the_stated_one(adjacency):
    strategy = design(50, APPROXIMATE, adjacency, degree=4)
    counts = np.random.default_rng(9).integers(0, 1000, size=50)
    total = int(counts.sum()) if adjacency is REPLACE else None
    answer, draws = strategy.measure(counts), 20_000
    noise = strategy.law.sample(draws * len(answer), source=KeyedSource(bytes(31) + b"m")).reshape(draws, -1)
    found = strategy.moments(answer + noise, total)
    exact = strategy.moments(answer, total)
    # 2 % is four standard errors
    np.testing.assert_allclose(found.values.std(axis=0), exact.noise_sd, rtol=0.02)
    np.testing.assert_allclose(found.values.mean(axis=0), exact.values, atol=0.05 * exact.noise_sd.max())
    if adjacency is ADD:  # the control: the noise of the count is part of it
        known = design(50, APPROXIMATE, ADD, degree=4).moments(answer, int(counts.sum())).noise_sd
        assert (np.abs(known / exact.noise_sd - 1) > 0.02).any()


def test_error_bound_holds_and_is_not_loose():
    """500 samples of a normal on [-4, 4]: the specification measured a median of .0285 and a 90 % quantile of .0444."""
    size, records = 2**12, 10_000
    privacy = ApproxDP(1, "1e-6")
    strategy = design(size, privacy, noise="moments", degree=6, records=records)
    draw = np.random.default_rng(1)
    ends = 2 * np.arange(1, size + 1) / size - 1
    truth = np.array([0.5 * math.erfc(-4 * t / math.sqrt(2)) for t in ends])
    errors = []
    for run in range(150):
        places = np.clip(np.floor((draw.normal(size=records) / 4 + 1) / 2 * size), 0, size - 1).astype(int)
        answer = strategy.measure(np.bincount(places, minlength=size))
        answer = answer + strategy.law.sample(7, source=KeyedSource(run.to_bytes(32, "little")))
        shares = strategy.estimate(answer, records)[:-1] / records
        errors.append(math.sqrt(((shares - truth[:-1]) ** 2).mean() * 2))
    assert np.median(errors) == pytest.approx(0.0285, rel=0.15)
    assert np.quantile(errors, 0.9) == pytest.approx(0.0444, rel=0.2)
    bound = l2_error_bound(strategy, records, alpha=0.0210)
    assert max(errors) <= bound < 4 * np.median(errors)
    # and shaped noise leaves a bound that is hardly above the bias
    shaped = design(size, privacy, degree=6, records=records)
    assert l2_error_bound(shaped, records, alpha=0.0210) < 0.4 * bound
    assert l2_error_bound(shaped, records) < l2_error_bound(shaped, records, alpha=0.0210)


@pytest.mark.parametrize(("ratio", "degree"), [(28, 9), (237, 12), (2367, 17), (23670, 25), (1, 6), (1e9, 30)])
def test_the_degree_follows_from_records_and_noise(ratio, degree):
    assert usual_degree(ratio) == degree


def test_designs_choose_degree_and_bits_from_public_numbers():
    assert design(1024, ApproxDP(1, "1e-6"), records=10_000).degree == usual_degree(10_000 * 0.23670)
    assert design(1024, ApproxDP(1, "1e-6")) == design(1024, ApproxDP(1, "1e-6"), records=10_000)
    assert design(1024, records=10**6).degree > design(1024, records=100).degree
    assert design(1024, rows=50).degree < design(1024).degree
    assert design(5).degree == 4
    assert design(1024, noise="moments").degree == 6
    assert design(1024).bits == 20
    assert design(1024, ApproxDP(1, "1e-6"), records=10**6).bits == 23
    assert design(1024, records=2**40).bits == 20
    assert design(1024, ApproxDP(1, "1e-14")).bits > 20
    assert design(1, degree=0).estimate(np.array([0]), 7).tolist() == [7]


def test_sums_of_very_many_records_are_exact_or_refused():
    strategy = design(16, records=2**40, degree=3)
    counts = np.zeros(16, dtype=np.int64)
    counts[[0, 15]] = 2**39, 2**39
    exact = strategy.features.astype(object) @ counts.astype(object)
    assert strategy.measure(counts).tolist() == exact.tolist()
    fine = design(16, degree=3, bits=30)
    sizes = np.abs(fine.features)
    most, bin = 2**62 // int(sizes.max()), int(sizes.max(axis=0).argmax())
    counts = np.zeros(16, dtype=np.int64)
    counts[bin] = most * 999 // 1000
    exact = fine.features.astype(object) @ counts.astype(object)
    assert fine.measure(counts).tolist() == exact.tolist()
    counts[bin] = most * 1001 // 1000
    with pytest.raises(DataError, match=r"30 fractional bits a projection adds up at most 4\.\d+e\+09 records; use"):
        fine.measure(counts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 2**16 + 1}, "no more detail than its degree; use fewer bins"),
        ({"size": 0}, "size must be a whole number of at least 1"),
        ({"degree": 31}, "degree must be a whole number from 0 to 30 for legendre"),
        ({"degree": -1}, "degree must be a whole number from 0 to 30"),
        ({"degree": 2.0}, "degree must be a whole number"),
        ({"degree": True}, "degree must be a whole number"),
        ({"degree": 64}, "degree must be a whole number from 0 to 30"),
        ({"size": 6, "degree": 6}, "degree 6 is too large for 6 bins; use at most 5"),
        ({"degree": 2, "basis": "splines"}, "from 3 to 30 for splines"),
        ({"size": 3, "basis": "splines"}, "degree 3 is too large for 3 bins"),
        ({"degree": 16, "noise": "moments"}, "from 0 to 15 .* lose their digits; use noise='shaped'"),
        ({"noise": "moments", "basis": "sine"}, "moments give Legendre coefficients only"),
        ({"basis": "haar"}, "basis must be one of legendre, sine, cosine, splines, got 'haar'"),
        ({"basis": ["sine"]}, "basis must be one of"),
        ({"noise": "none"}, "noise must be one of shaped, isotropic, moments"),
        ({"constants": "paper"}, "constants='paper' is for Gaussian noise on moments"),
        ({"constants": "paper", "noise": "moments", "adjacency": ADD}, "constants='paper' is for"),
        ({"constants": "paper", "noise": "moments", "privacy": PURE}, "constants='paper' is for"),
        ({"constants": "rough"}, "constants must be exact or paper"),
        ({"adjacency": "replace"}, "adjacency must be Adjacency.REPLACE or"),
        ({"privacy": 1.0}, "privacy must be PureDP, ApproxDP or ZeroConcentratedDP"),
        ({"rows": 0}, "rows must be a whole number of at least 1"),
        ({"records": 0}, "records must be a whole number of at least 1"),
        ({"bits": 31}, "bits must be a whole number from 8 to 30"),
        ({"bits": 8, "privacy": ZeroConcentratedDP(1)}, "get noise of at least 1000, got 181"),
        ({"privacy": ApproxDP(1, "1e-30")}, "asks for more fractional bits of integer noise than there are"),
        ({"privacy": ApproxDP(60, "1e-6")}, "use a larger delta or a smaller epsilon, or PureDP"),
        ({"privacy": ZeroConcentratedDP(10**12)}, "use a smaller rho, or PureDP"),
        ({"bits": 10, "privacy": ApproxDP(1, "1e-12")}, "use more fractional bits"),
    ],
    ids=str,
)
def test_refuses(options, message):
    with pytest.raises(ParameterError, match=message):
        design(**options)


def test_refuses_more_noise_than_can_be_drawn():
    with pytest.raises(ScaleError):
        design(64, PureDP("1e-9"), degree=6)
    with pytest.raises(ScaleError):
        design(64, ZeroConcentratedDP("1e-18"), degree=6)


def test_refuses_fields_that_do_not_fit():
    strategy = design(64, degree=6)
    with pytest.raises(ParameterError, match="takes DiscreteGaussian or DiscreteLaplace noise"):
        dataclasses.replace(strategy, law=Skellam(100))
    with pytest.raises(ParameterError, match="lacks the field 'bits'"):
        strategy_from_dict({key: value for key, value in strategy.to_dict().items() if key != "bits"})
    with pytest.raises(ParameterError, match="must hold 7 measurements"):
        strategy.estimate(np.zeros(6, dtype=np.int64), 5)
    with pytest.raises(ParameterError, match=r"shape \(64,\)"):
        strategy.measure(np.zeros(63, dtype=np.int64))
    for other in (design(64, basis="sine", degree=6), design(64, noise="moments", degree=6)):
        with pytest.raises(ParameterError, match="needs the number of records"):
            other.estimate(np.zeros(7, dtype=np.int64), None)
    with pytest.raises(ParameterError, match="from the legendre basis only"):
        design(64, basis="sine", degree=6).moments(np.zeros(7, dtype=np.int64), 5)
    with pytest.raises(ParameterError, match="moments need the number of records"):
        strategy.moments(np.zeros(7, dtype=np.int64), None)
    with pytest.raises(ParameterError, match="leaves no records"):
        design(64, adjacency=ADD, degree=6).moments(np.full(8, -5), None)


def test_strategies_are_plain_data():
    strategy = design(64, PURE, ADD, degree=3)
    assert strategy.to_dict() == {
        "name": "projection",
        "size": 64,
        "basis": "legendre",
        "degree": 3,
        "noise": "shaped",
        "constants": "exact",
        "adjacency": "add_or_remove",
        "bits": strategy.bits,
        "law": strategy.law.to_dict(),
    }
    assert hash(strategy_from_dict(strategy.to_dict())) == hash(strategy)
    assert isinstance(strategy.law, DiscreteLaplace)
    assert strategy != dataclasses.replace(strategy, law=DiscreteGaussian(2**25))
    assert isinstance(strategy, OrthogonalProjection)
    assert not strategy.features.flags.writeable

"""A smooth density with a few atoms, fitted to noisy sums of bins, and what it leaves.

Loaded with the first fit, since scipy's algebra is slow to import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import erfcx, log_ndtr, logsumexp

from ogive.core.arrays import Bool, Float64, Int64

# --- The likelihood of a histogram, whose weighted sums were measured with independent noise
#
# With x the histogram (N bins), y = H x + e what was measured and V the variances of the noise e, taken for normal,
#
#     -log likelihood = x^T J x / 2 - x^T b + constant,   J = H^T V^-1 H,   b = H^T V^-1 y,
#
# so b is all that a fit has to know of y. The smooth part of a histogram is even within groups of neighboring bins, at
# most `GROUPS` of them, and needs of J only the sums over groups; single bins need its diagonal and its products.

GROUPS = 256


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Weighted sums of bins, and the variance of the noise of each.

    Fields:
        rows: Weights of the bins in every sum, at most 1, a sparse matrix of shape (M, N).
        variances: Noise of each sum, shape (M,).
        heavy: Whether the noise has tails like Laplace noise, heavier than those of a normal law.
    """

    rows: Any
    variances: Float64
    heavy: bool

    @cached_property
    def size(self) -> int:
        """Number of bins, N."""
        return int(self.rows.shape[1])

    @cached_property
    def _columns(self) -> Any:
        return self.rows.T.tocsr()

    @cached_property
    def starts(self) -> Int64:
        """First bin of each group, shape (G,)."""
        groups = min(self.size, GROUPS)
        return np.arange(groups) * self.size // groups

    @cached_property
    def widths(self) -> Float64:
        """Bins of each group, shape (G,)."""
        return np.diff(self.starts, append=self.size).astype(np.float64)

    @cached_property
    def group(self) -> Int64:
        """The group of each bin, shape (N,)."""
        return np.repeat(np.arange(len(self.starts)), self.widths.astype(np.int64))

    @cached_property
    def middles(self) -> Float64:
        """Middle of each group on [0, 1], shape (G,)."""
        return (self.starts + self.widths / 2) / self.size

    @cached_property
    def precision(self) -> Float64:
        """J between records spread evenly over groups, shape (G, G)."""
        bins = np.arange(self.size)
        even = sparse.csr_array((1 / self.widths[self.group], (bins, self.group)), shape=(self.size, len(self.starts)))
        sums = (self.rows @ even).tocsr()
        scaled = sparse.diags_array(1 / self.variances) @ sums
        return np.asarray((sums.T @ scaled).toarray())

    @cached_property
    def diagonal(self) -> Float64:
        """Diagonal of J, shape (N,)."""
        return np.asarray(self.rows.power(2).T @ (1 / self.variances))

    @cached_property
    def owners(self) -> Any:
        """Which sums a bin has much weight in, shape (N, M)."""
        return (self.rows > 0.3).T.astype(np.float64).tocsr()

    def weigh(self, answer: Float64) -> Float64:
        """H^T V^-1 y, shape (N,); J x for y = H x."""
        return np.asarray(self._columns @ (answer / self.variances))

    def means(self, values: Float64) -> Float64:
        """Means over groups, shape (G,)."""
        return np.asarray(np.add.reduceat(values, self.starts) / self.widths)

    @cached_property
    def log_places(self) -> Float64:
        """Logarithms of the prior probabilities that an atom is at a bin, shape (N,)."""
        places = np.full(self.size, (1 - 2 * _ENDS) / max(self.size - 2, 1))
        places[[0, -1]] = _ENDS
        return np.asarray(np.log(places))


# --- A smooth density: a logistic Gaussian process, for one strength and smoothness of its prior
#
#     shares of groups   p = softmax(f),   f = polynomial of degree 2 + sum over k of c_k sqrt(2) cos(pi k t)
#     prior              c_k normal with deviation tau k^-s; the polynomial's two coefficients of deviation 10
#     fit                the largest product of prior and likelihood, by Gauss-Newton steps
#     evidence           the probability of the measurements under the prior, by Laplace's approximation
#
# Without the exponential the fit would be a smoothing spline; with it the density is positive, and a prior of one
# smoothness suits both a peak and its tails.
#
# Source:
#     Leonard 1978; Tokdar and Ghosh 2007 (logistic Gaussian processes); MacKay 1992 (evidence).

TERMS = 96
_POLYNOMIAL = 10.0
_SMALLEST = 0.03  # terms of a smaller prior deviation are left out
_STEPS, _DONE = 40, 0.02
_SLOW = 0.3  # of the last gain: steps by an old curvature that gain less slowly than that are given up
_MOVED = 1.0  # gain of the objective after which the curvature is computed anew for the evidence


@dataclass(frozen=True)
class Prior:
    """How far log densities vary: deviation `strength` k^-`smoothness` of the k-th cosine."""

    smoothness: float
    strength: float


STIFF = Prior(3, 0.3)
PRIORS = (
    *(Prior(1, tau) for tau in (0.3, 1, 3, 10)),
    *(Prior(2, tau) for tau in (1, 3, 10, 30)),
    *(Prior(3, tau) for tau in (0.3, 1, 3, 10, 30, 0.02)),
)


@dataclass(frozen=True, eq=False)
class Smooth:
    """A fitted density, linearized: records in groups are about mass * shares + slopes @ (change of coefficients).

    Fields:
        shares: Of each group, shape (G,).
        coefficients: Of all terms, 0 where left out, shape (terms,).
        scaled: Coefficients of the terms that are used, in prior deviations, shape (K,).
        slopes: Derivatives of the records by `scaled`, shape (G, K).
        pulled: The precision times the slopes, shape (G, K).
        factor: Cholesky factor of the curvature, shape (K, K).
        residual: What the measurements say against the fit, on average over a group, shape (G,).
    """

    prior: Prior
    shares: Float64
    mass: float
    evidence: float
    coefficients: Float64
    scaled: Float64
    slopes: Float64 = field(repr=False)
    pulled: Float64 = field(repr=False)
    factor: Float64 = field(repr=False)
    residual: Float64 = field(repr=False)


@lru_cache(maxsize=256)
def _terms(places: bytes, prior: Prior) -> tuple[Bool, Float64, Float64]:
    """Which terms are used, their prior deviations, and their values at the groups times these, shape (G, K)."""
    t = np.frombuffer(places)
    k = np.arange(1, min(TERMS, len(t) - 1) + 1)
    deviations = np.concatenate([[_POLYNOMIAL] * 2, prior.strength * k ** -float(prior.smoothness)])
    values = np.column_stack([2 * t - 1, (2 * t - 1) ** 2, np.sqrt(2) * np.cos(np.pi * np.outer(t, k))])
    used = deviations > _SMALLEST
    return used, deviations[used], values[:, used] * deviations[used]


def fit(likelihood: Likelihood, weighed: Float64, mass: float, prior: Prior, start: Float64 | None = None) -> Smooth:
    """Fit a density of `mass` records to b of the likelihood for the smooth part, on average over groups, shape (G,).

    Steps begin at `start`, the coefficients of a fit with another prior.
    """
    used, deviations, values = _terms(likelihood.middles.tobytes(), prior)
    precision, widths = likelihood.precision, likelihood.widths

    def at(scaled: Float64) -> tuple[float, Float64, Float64]:
        heights = values @ scaled
        shares = np.exp(heights - heights.max()) * widths
        shares /= shares.sum()
        met = mass * (precision @ shares)
        objective = mass * float(shares @ (met / 2 - weighed)) + float(scaled @ scaled) / 2
        return objective, shares, weighed - met

    def slopes_at(shares: Float64) -> tuple[Float64, Float64, Float64]:
        slopes = mass * shares[:, np.newaxis] * (values - shares @ values)
        pulled = precision @ slopes
        return slopes, pulled, slopes.T @ pulled + np.eye(values.shape[1])

    scaled = np.zeros(values.shape[1]) if start is None else start[used] / deviations
    objective, shares, residual = at(scaled)
    linear, damping, gain, moved, fresh = slopes_at(shares), 0.0, 0.0, 0.0, True
    factor = cho_factor(linear[2])
    for _ in range(_STEPS):
        turned = shares * residual
        gradient = mass * (turned @ values - turned.sum() * (shares @ values)) - scaled
        tried = scaled + cho_solve(factor, gradient)
        result = at(tried)
        if not result[0] < objective:
            if fresh:  # too long a step: damp it, unless no step helps any more
                damping = max(8 * damping, 0.1)
                if damping > 1e6:
                    break
            else:
                linear, fresh, moved = slopes_at(shares), True, 0.0
            factor = cho_factor(linear[2] + damping * np.eye(len(scaled)))
            continue
        last, gain = gain, objective - result[0]
        scaled, (objective, shares, residual) = tried, result
        moved += gain
        if gain < _DONE:
            break
        if not fresh and gain > _SLOW * last:
            damping /= 8
            linear, fresh, moved = slopes_at(shares), True, 0.0
            factor = cho_factor(linear[2] + damping * np.eye(len(scaled)))
        else:
            fresh = False
    if moved > _MOVED:
        linear = slopes_at(shares)
    lower = np.asarray(np.linalg.cholesky(linear[2]), dtype=np.float64)
    coefficients = np.zeros(len(used))
    coefficients[used] = scaled * deviations
    return Smooth(
        prior=prior,
        shares=shares,
        mass=mass,
        evidence=-objective - float(np.log(np.diag(lower)).sum()),
        coefficients=coefficients,
        scaled=scaled,
        slopes=linear[0],
        pulled=linear[1],
        factor=lower,
        residual=residual,
    )


# --- Atoms: single bins that hold more than a smooth density explains, one after the other
#
# An atom is a sum of records on one bin that is not known, so it is held as a distribution over bins: with prior
# probabilities of places, and a half normal prior of its size for each of three scales, the likelihood around a fitted
# density gives the odds that there is an atom, and its expected size at each place. Atoms are added while the odds are
# in favor; then each is looked at again with the others held fixed. An atom that moves is paid for by the smooth part,
# so directions are e_i - p, and the curvature is what is left of J when the density has adapted.
#
# Source:
#     Wang, Sarkar, Carbonetto and Stephens 2020 (sum of single effects).

_SIZES = np.array([0.03, 0.15, 0.6])  # deviations of the prior of an atom, as shares of the records
_ENDS = 0.35  # prior probability of either end: values are clipped to the bounds, and zero is often one of them
_ADDED, _STAYS = 0.5, 0.4  # probability from which an atom is added, and stays
_MOST = 30
_NEEDED = 1.0  # what an atom costs in evidence, besides the distance of its places from their prior
_NEGLIGIBLE = 1e-12  # share of an atom at a place, of which its cost has nothing
_FAR_BELOW = -30.0
_PLACES = 256  # bins that are looked at: those that stand out most, and the ends


class Search:
    """Atoms around one fitted density.

    `weighed` is b of the likelihood less J times the atoms, `held` together, that the density was fitted beside, shape
    (N,) each; `answer` is what was measured, shape (M,).
    """

    def __init__(
        self, likelihood: Likelihood, answer: Float64, weighed: Float64, fitted: Smooth, held: Float64, records: float
    ) -> None:
        self.likelihood, self.fitted, self.records = likelihood, fitted, records
        even = (fitted.shares / likelihood.widths)[likelihood.group]
        self._adapted = solve_triangular(fitted.factor, fitted.pulled.T, lower=True)
        self._met = likelihood.precision @ fitted.shares
        # what the smooth part leaves, and where its prior pulls it
        left = weighed - fitted.mass * likelihood.weigh(likelihood.rows @ even)
        self.score = self._against(left, fitted.residual, fitted.pulled @ fitted.scaled)
        own = self._met - self._adapted.T @ (self._adapted @ fitted.shares)
        curvature = likelihood.diagonal - (self._adapted**2).sum(axis=0)[likelihood.group]
        curvature = curvature - 2 * own[likelihood.group] + float(fitted.shares @ own)
        self.curvature = np.maximum(curvature, 1e-12)
        # What normal noise takes for evidence at each bin and Laplace noise does not, shape (N,): beyond sqrt(2)
        # deviations the density of Laplace noise falls as exp(-sqrt(2) z), which is slower than exp(-z^2 / 2) by
        # exp((z - sqrt(2))^2 / 2) and a constant.
        self._outliers = np.zeros(likelihood.size)
        if likelihood.heavy:
            beyond = answer - likelihood.rows @ (fitted.mass * even + held)
            beyond = beyond / np.sqrt(likelihood.variances) - np.sqrt(2)
            self._outliers = np.asarray(likelihood.owners @ (np.maximum(beyond, 0.0) ** 2 / 2))

    def _against(self, values: Float64, grouped: Float64, pull: Float64 | float = 0.0) -> Float64:
        """Derivatives in the directions e_i - p, once the density has adapted, shape (N,).

        `values` is J times something, shape (N,), `grouped` the same on average over groups, `pull` what the prior
        adds.
        """
        # slopes^T J x is what the density feels of x
        felt = solve_triangular(self.fitted.factor, self.fitted.slopes.T @ (grouped + pull), lower=True)
        turned = values + (pull - self._adapted.T @ felt)[self.likelihood.group]
        return np.asarray(turned - float(self.fitted.shares @ self.likelihood.means(turned)))

    def shift(self, atom: Float64) -> Float64:
        """How much an atom takes off the score, shape (N,)."""
        total = float(atom.sum())
        values = self.likelihood.weigh(self.likelihood.rows @ atom)
        grouped = self.likelihood.means(values) - total * self._met
        return self._against(values - total * self._met[self.likelihood.group], grouped)

    def single(self, score: Float64) -> tuple[float, Float64]:
        """One more atom: its probability, and its expected size at every bin when it may not be there, shape (N,)."""
        size = len(score)
        places = np.arange(size)
        if size > 2 * _PLACES:
            standing = np.argpartition(score / np.sqrt(self.curvature), size - _PLACES)[size - _PLACES :]
            places = np.union1d(standing, [0, size - 1])
        s, c, outliers = score[places], self.curvature[places], self._outliers[places]
        scales = _SIZES[:, np.newaxis] * self.records
        deviation = 1 / np.sqrt(1 / scales**2 + c)
        z = s * deviation
        normal = z * z / 2
        # no more evidence than Laplace noise allows
        least = np.where(z > np.sqrt(2), np.sqrt(2) * z - 1, normal)
        explained = np.where(z > 0, np.maximum(normal - outliers, least), normal)
        below = log_ndtr(z)
        odds = np.log(2) - np.log1p(scales**2 * c) / 2 + explained + below + self.likelihood.log_places[places]
        sizes = np.maximum(deviation * (z + _mills(z, normal, below)), 0.0)
        whole = float(logsumexp(odds))
        chance = float(1 / (1 + np.exp(-np.clip(whole - float(np.log(len(_SIZES))), -50.0, 50.0))))
        atom = np.zeros(size)
        atom[places] = chance * (np.exp(odds - whole) * sizes).sum(axis=0)
        return chance, atom


def _mills(z: Float64, normal: Float64, below: Float64) -> Float64:
    """The normal density at z over the probability below; `normal` is z squared over 2, `below` its logarithm."""
    usual = z > _FAR_BELOW
    result = np.exp(np.where(usual, -normal - below, 0.0)) / np.sqrt(2 * np.pi)
    # far below, where two large numbers would nearly cancel
    far = np.sqrt(2 / np.pi) / erfcx(-np.minimum(z, _FAR_BELOW) / np.sqrt(2))
    return np.asarray(np.where(usual, result, far))


# --- The histogram: a mean over densities with and without atoms, weighted by their evidence
#
# Each prior of the density is fitted with the atoms that were found around the best of them, and atoms are looked for
# again, a few times over. Two searches begin from different densities: the best one without atoms, which may have bent
# to them already, and a stiff one, which leaves to atoms all that is not straight. No choice between them is needed:
# what the measurements speak for gets the weight.
#
# All of it is post-processing of the noisy measurements.

_ROUNDS = 4
_DROPPED = 20.0  # evidence below the best from which a prior is tried no more
_WEIGHED = 0.02  # least weight of a fit, the best having 1
_LARGEST = 0.99  # share of the records that atoms may have


@dataclass(frozen=True, eq=False)
class Candidate:
    """Some atoms, densities of the rest, of which one has the most evidence, and what the evidence of each lacks."""

    atoms: list[Float64]
    held: Float64
    densities: list[Smooth]
    best: Smooth
    constant: float
    cost: float


@dataclass(frozen=True, eq=False)
class Fitting:
    """Fits to one answer, of shape (M,) on the scale of the likelihood's weights, for a number of records above 0."""

    likelihood: Likelihood
    answer: Float64
    records: float

    def histogram(self) -> Float64:
        """Expected records in each bin, at least 0, shape (N,)."""
        weighed = self.likelihood.weigh(self.answer)
        smooth = self._candidate(weighed, [], PRIORS)
        candidates = [smooth]
        for first in (smooth, self._candidate(weighed, [], [STIFF])):
            result = self._with_atoms(weighed, first)
            if result is not None:
                candidates.append(result)
        fits = [(each, density) for each in candidates for density in each.densities]
        evidences = [density.evidence + each.constant - each.cost for each, density in fits]
        total, weights = np.zeros(self.likelihood.size), 0.0
        for (each, density), evidence in zip(fits, evidences, strict=True):
            weight = float(np.exp(evidence - max(evidences)))
            if weight > _WEIGHED:
                even = (density.shares / self.likelihood.widths)[self.likelihood.group]
                total += weight * (each.held + density.mass * even)
                weights += weight
        return total / weights

    def _candidate(
        self, weighed: Float64, atoms: list[Float64], priors: Iterable[Prior], start: Float64 | None = None
    ) -> Candidate:
        held, explained, cost = np.zeros(self.likelihood.size), np.zeros(self.likelihood.size), 0.0
        if atoms:
            held = np.sum(atoms, axis=0)
            explained = self.likelihood.weigh(self.likelihood.rows @ held)
        for atom in atoms:  # a constant each, and the distance of its places from the prior
            chances = atom / atom.sum()
            places = np.flatnonzero(chances > _NEGLIGIBLE)
            chances = chances[places]
            cost += _NEEDED + float(chances @ (np.log(chances) - self.likelihood.log_places[places]))
        means = self.likelihood.means(weighed - explained)
        densities = list[Smooth]()
        for prior in priors:
            densities.append(fit(self.likelihood, means, self.records - float(held.sum()), prior, start))
            start = densities[-1].coefficients
        best = max(densities, key=attrgetter("evidence"))
        return Candidate(atoms, held, densities, best, float(held @ (weighed - explained / 2)), cost)

    def _with_atoms(self, weighed: Float64, candidate: Candidate) -> Candidate | None:
        """Atoms around the best density and densities around the atoms, in turns; None where no atom is found."""
        priors: Iterable[Prior] = PRIORS
        for number in range(_ROUNDS):
            best, before = candidate.best, candidate.atoms
            left = weighed - self.likelihood.weigh(self.likelihood.rows @ candidate.held)
            search = Search(self.likelihood, self.answer, left, best, candidate.held, self.records)
            score, atoms = search.score, list[Float64]()
            for atom in before:
                score = score + search.shift(atom)
                chance, again = search.single(score)
                if chance > _STAYS:
                    atoms.append(again)
                    score = score - search.shift(again)
            held = len(atoms)
            while len(atoms) < _MOST:
                chance, another = search.single(score)
                if chance < _ADDED:
                    break
                atoms.append(another)
                score = score - search.shift(another)
            if not atoms:
                return None
            settled = number > 1 and held == len(atoms) == len(before)
            records = sum(float(atom.sum()) for atom in atoms)
            if records > _LARGEST * self.records:
                atoms = [atom * (_LARGEST * self.records / records) for atom in atoms]
            candidate = self._candidate(weighed, atoms, priors, best.coefficients)
            least = candidate.best.evidence - _DROPPED
            priors = [each.prior for each in candidate.densities if each.evidence > least]
            if settled:
                break
        return candidate


# --- What a fitted curve leaves of an unbiased one, kept where it is more than noise
#
# The difference of the two curves is split by the Haar wavelets, whose noise is known for every coefficient without a
# look at the data. Blocks of neighboring coefficients are multiplied by
#
#     max(0, 1 - factor * noise energy / observed energy)
#
# with a factor above that of James and Stein, since most of a good fit's residual is noise: what is kept by mistake
# costs more than what is lost. A scale that has far more energy than noise is shrunk less, and a single coefficient
# that stands out is kept on its own. So a fit that is wrong costs little where the measurements say so.
#
# Source:
#     James and Stein 1961; Cai 1999 (blocks of wavelet coefficients).

BLOCK = 8
_FACTOR, _SHORT = 2.0, 2.5  # the factor of a block of b coefficients is 2 + 2.5 / sqrt(b)
_BUSY, _BUSY_FACTOR = 3.0, 1.2  # deviations of a scale's energy above the noise's from which it is shrunk less, by 1.2
_ALONE = 20.0  # a coefficient's energy, times its noise's, from which a part of it is kept whatever its block holds
_SEED = 0x68616172  # public and fixed
_SIMULATED_VALUES, _FEWEST_RUNS, _MOST_RUNS = 1 << 22, 32, 400


def haar(curves: Float64) -> list[Float64]:
    """Haar coefficients of curves filled up by zeros to a power of two: their mean, then from coarse to fine."""
    length = 1 << (curves.shape[-1] - 1).bit_length()
    means = np.concatenate([curves, np.zeros((*curves.shape[:-1], length - curves.shape[-1]))], axis=-1)
    details = []
    while means.shape[-1] > 1:
        even, odd = means[..., ::2], means[..., 1::2]
        details.append((even - odd) / np.sqrt(2))
        means = (even + odd) / np.sqrt(2)
    return [means, *reversed(details)]


def haar_energies(
    estimate: Callable[[tuple[Int64, ...]], Float64], nodes: Sequence[int], variances: Sequence[float]
) -> list[Float64]:
    """Mean square of the noise of every Haar coefficient of an unbiased curve, by simulation.

    The arguments are those of `shrinkage.noise_energy`, but for several runs at a time, shape (runs, N).
    """
    random = np.random.Generator(np.random.PCG64(_SEED))
    runs = min(_MOST_RUNS, max(_FEWEST_RUNS, _SIMULATED_VALUES // sum(nodes)))
    # the estimate is linear, so noise of another scale tells the same, without rounding of small noise
    unit = 2.0**30 / np.sqrt(max(variances))
    energies: list[Float64] = []
    for _ in range(0, runs, _FEWEST_RUNS):
        drawn = tuple(
            np.rint(unit * np.sqrt(variance) * random.standard_normal((_FEWEST_RUNS, count))).astype(np.int64)
            for count, variance in zip(nodes, variances, strict=True)
        )
        squares = [np.square(part).mean(axis=0) for part in haar(estimate(drawn) / unit)]
        energies = [old + new for old, new in zip(energies, squares, strict=True)] if energies else squares
    return [each / len(range(0, runs, _FEWEST_RUNS)) for each in energies]


def kept_residual(residual: Float64, energies: Sequence[Float64]) -> Float64:
    """The part of a residual, an unbiased curve made monotone less a fitted one, that is more than noise, shape (N,).

    `energies` is the noise of its Haar coefficients, from `haar_energies`.
    """
    shrunk = []
    for details, noise in zip(haar(residual), energies, strict=True):
        count = len(details)
        block = min(count, BLOCK)
        squares = np.square(details)
        energy, expected = squares.reshape(-1, block).sum(axis=1), noise.reshape(-1, block).sum(axis=1)
        busy = count >= BLOCK and energy.sum() > (1 + _BUSY * np.sqrt(2 / count)) * expected.sum()
        blocks, alone = (_BUSY_FACTOR if busy else _FACTOR + _SHORT / np.sqrt(block)) * expected, _ALONE * noise
        # what is left of each energy: max(0, 1 - noise / energy), 0 where there is no energy
        together = np.divide(energy - blocks, energy, out=np.zeros(len(energy)), where=energy > blocks)
        single = np.divide(squares - alone, squares, out=np.zeros(count), where=squares > alone)
        shrunk.append(details * np.maximum(np.repeat(together, block), single))
    means = shrunk[0]
    for details in shrunk[1:]:
        joined = np.empty(2 * len(details))
        joined[::2], joined[1::2] = (means + details) / np.sqrt(2), (means - details) / np.sqrt(2)
        means = joined
    result: Float64 = means[: len(residual)]
    return result

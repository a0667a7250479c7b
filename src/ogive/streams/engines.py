"""Engines of running totals that answer element by element: noise on blocks, and a square-root factorization."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

import numpy as np
from scipy.signal import fftconvolve

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import ROOM, WORD, Range
from ogive.core.compiling import njit
from ogive.errors import ParameterError, quoted
from ogive.noise import DerivedNodes, DiscreteGaussian, DiscreteLaplace, round_up_root
from ogive.noise.base import Law
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import measured_laws, measured_loss
from ogive.strategies.path import best_tree, candidate_trees, grid_squared_shift, path_noise_law, shift_cost

# --- What is stored of a stream: a checksum and plain data, read without trust in any field
#
# A checksum finds damage; it does not tell who wrote the bytes. So every field is checked for its type and its range,
# and against the number and the total of the elements, before a stream goes on with it.

_KEY = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Elements:
    """What is stored of the elements of a stream: how many, their sum, and bounds of each, in whole units."""

    count: int
    total: int
    low: int
    high: int

    def allow(self, total: int, count: int) -> bool:
        """Whether `count` elements can have this total."""
        return count * self.low <= total <= count * self.high


def pack(content: dict[str, Any]) -> bytes:
    """Plain data behind their checksum."""
    body = json.dumps(content).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unpack(data: bytes, names: frozenset[str], format_name: str) -> dict[str, Any]:
    """The plain data that `pack` was given, where they have these fields, and no others, and this format."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ParameterError(f"a stored running total is bytes, got {type(data).__name__}")
    check, _, body = bytes(data).partition(b"\n")
    if not hmac.compare_digest(hashlib.sha256(body).hexdigest().encode(), check):
        raise ParameterError("these bytes are not a running total, or are damaged")
    try:
        content = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != format_name:
        raise ParameterError(f"these bytes are not of the format {quoted(format_name)}")
    return fields(content, names, "the stored running total")


def fields(data: Any, names: frozenset[str], what: str) -> dict[str, Any]:
    """`data`, where it is an object with exactly these fields."""
    if not isinstance(data, dict) or data.keys() != names:
        raise ParameterError(f"{what} must have the fields {', '.join(sorted(names)) or '(none)'}")
    return data


def whole_number(value: Any, low: int, high: int, name: str) -> int:
    """`value`, where it is a whole number from `low` to `high`."""
    if type(value) is not int or not low <= value <= high:
        raise ParameterError(f"{name} of a stored running total must be a whole number from {low} to {high}")
    return value


def whole_numbers(values: Any, count: int, low: int, high: int, name: str) -> list[int]:
    """`values`, where they are `count` whole numbers from `low` to `high`."""
    return [whole_number(value, low, high, name) for value in _list(values, count, name)]


def numbers(values: Any, count: int, limit: float, name: str) -> list[float]:
    """`values`, where they are `count` floats of absolute value at most `limit`."""
    for value in _list(values, count, name):
        if type(value) is not float or not abs(value) <= limit:
            raise ParameterError(f"{name} of a stored running total must be numbers from {-limit:g} to {limit:g}")
    return list(values)


def key_of(value: Any) -> bytes:
    """The noise key that is written as 64 hexadecimal digits."""
    if not isinstance(value, str) or _KEY.fullmatch(value) is None:
        raise ParameterError("key of a stored running total must be 64 hexadecimal digits")
    return bytes.fromhex(value)


def _list(values: Any, count: int, name: str) -> list[Any]:
    if not isinstance(values, list) or len(values) != count:
        raise ParameterError(f"{name} of a stored running total must be a list of {count}")
    return values


def _no_number(word: str) -> NoReturn:
    raise ValueError(word)


# --- Engines


class Engine(ABC):
    """One way to publish totals of whole units; it does not check its input.

    An engine is made of the largest number of `steps`, of the `privacy` that the whole stream may cost, of the largest
    `change` of one element and, for some, of the `largest` absolute value of one, both in whole units. Most need
    nothing beyond their noise key to go on; `described` names them in messages.
    """

    name: str
    described: ClassVar[str]
    steps: int

    @property
    @abstractmethod
    def loss(self) -> PureDP | ZeroConcentratedDP:
        """What the whole stream costs."""

    @abstractmethod
    def variance(self, counts: Int64) -> Float64:
        """Variance of the total after each number of elements, in squared units, same shape."""

    @property
    def mean_variance(self) -> float:
        """Mean of `variance` over all steps."""
        return float(self.variance(np.arange(1, self.steps + 1)).mean())

    @abstractmethod
    def start(self, nodes: DerivedNodes) -> None:
        """Begin a stream whose noise comes from `nodes`."""

    @abstractmethod
    def advance(self, first: int, total: int, values: Int64) -> Float64:
        """Take elements and return the totals after each, same shape.

        Args:
            first: Number of elements before, so that these have the 0-based numbers `first`, `first` + 1, ...
            total: Sum of those before.
            values: Whole units, shape (m,), m from 1 up.
        """

    def state(self) -> dict[str, Any]:
        """Plain data from which to go on."""
        return {}

    def restore(self, state: Any, elements: Elements) -> None:
        """Go on from a `state`, after these elements."""
        fields(state, frozenset(), f"the state of {self.described}")


# --- Node noise in order, drawn a window at a time

WIDTH = 64


class NoiseWindow:
    """Consecutive nodes of one level, drawn at least 64 at a time so that single steps are cheap."""

    def __init__(self, nodes: DerivedNodes, law: Law, level: int, count: int) -> None:
        self._nodes, self._law, self._level, self._count = nodes, law, level, count
        self._first = 0
        self._drawn = np.empty(0, np.int64)

    def values(self, first: int, end: int) -> Int64:
        """Noise of the nodes first..end - 1, shape (end - first,)."""
        if first < self._first or end > self._first + len(self._drawn):
            nodes = np.arange(first, min(max(end, first + WIDTH), self._count))
            self._first, self._drawn = first, self._nodes.values(self._law, self._level, nodes)
        return self._drawn[first - self._first : end - self._first]


# --- Path noise: every total gets the noise of the blocks above its step
#
# At 0-based step t the noise of a block of size B is renewed when t is a multiple of B. The
# noise never depends on the stream, so under Laplace noise the bound on output probabilities
# holds pointwise and covers streams that react to what was published. For discrete Gaussian
# noise it is proved only for streams that do not.


class PathTotals(Engine):
    """Path noise on the running totals of a stream."""

    name = "path"
    described = "path noise"
    law: DiscreteLaplace | DiscreteGaussian

    def __init__(self, steps: int, privacy: PureDP | ZeroConcentratedDP, change: int, largest: int) -> None:
        self.steps, self.change = steps, change
        # a changed element changes all later totals: suffixes, as when a record is added
        self.tree = best_tree(candidate_trees(steps), privacy, Adjacency.ADD_OR_REMOVE, gaussian="fine")
        self.law, self.bits = path_noise_law(self.tree, privacy, Adjacency.ADD_OR_REMOVE, change=change)
        refusal = "totals could overflow 64 bits; use fewer steps or a coarser resolution"
        Range(0, steps * largest << self.bits).check(ROOM, refusal, ParameterError)

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        if isinstance(self.law, DiscreteLaplace):
            return PureDP(shift_cost(self.tree, Adjacency.ADD_OR_REMOVE) * self.change / self.law.scale)
        squared = grid_squared_shift(self.tree, Adjacency.ADD_OR_REMOVE, self.change << self.bits)
        return ZeroConcentratedDP(squared / (2 * self.law.sigma**2))

    def variance(self, counts: Int64) -> Float64:
        return np.full(np.shape(counts), self.tree.terms * self.law.variance / 4.0**self.bits)

    @property
    def mean_variance(self) -> float:
        """The variance, which is the same after every element."""
        return float(self.variance(np.array(1)))

    def start(self, nodes: DerivedNodes) -> None:
        self.windows = [NoiseWindow(nodes, self.law, level, count) for level, count in enumerate(self.tree.nodes)]

    def advance(self, first: int, total: int, values: Int64) -> Float64:
        steps = first + np.arange(len(values))
        noise = np.zeros(len(values), np.int64)
        for window, block in zip(self.windows, self.tree.sizes, strict=False):
            low = first // block
            noise += window.values(low, int(steps[-1]) // block + 1)[steps // block - low]
        # the sum of integers is rounded once, so what is published depends on it alone
        answer = ((total + np.cumsum(values)) << self.bits) + noise
        return np.ldexp(answer.astype(np.float64), -self.bits)


# --- Trees: totals from noisy sums of completed blocks (Honaker's online estimate)
#
# Level l adds up blocks of B_l = b^l elements and publishes each sum, with noise, when the block
# is complete; an element is in at most one block per level. Block sums are released one after
# another with noise of their own, so the privacy is that of adaptive composition: the stream may
# react to what was published. A block's sum is estimated from its own noisy sum and the
# estimates of its children, with V the variance of an estimate in units of the noise variance:
#
#     V_0 = 1,   V_l = 1 / (1 + 1 / (b V_{l-1})),   z = V_l (y + (sum of the children's z) / (b V_{l-1})),
#
# and the total at step t is the sum of z over the largest completed blocks that make up 1..t.

MAX_BASE = 64
# totals fit floats exactly; noise fits 64 bits, and an estimate is a mean of noisy sums of at most `steps` blocks
MAX_TOTAL, _MAX_NOISE = 1 << 53, 2.0**63


class TreeTotals(Engine):
    """Noisy block sums, combined as soon as blocks are complete; memory O(log steps).

    `blocks` are the base and the number of levels; None takes those of least mean variance.
    """

    name = "tree"
    law: DiscreteLaplace | DiscreteGaussian

    def __init__(
        self, steps: int, privacy: PureDP | ZeroConcentratedDP, change: int, *, blocks: tuple[int, int] | None = None
    ) -> None:
        self.steps, self.change = steps, change
        self.base, self.levels = blocks or _best_blocks(steps, pure=isinstance(privacy, PureDP))
        self.sizes = self.base ** np.arange(self.levels)
        self.relative = _relative_variances(self.base, self.levels)
        moved = self.levels * change
        (self.law,) = measured_laws(privacy, [Fraction(1)], l1=[moved], l2_squared=[moved * change])

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        """What the whole stream costs: one sum per level changes, by at most `change`."""
        return measured_loss([self.law], l1=[self.levels * self.change], l2_squared=[self.levels * self.change**2])

    def variance(self, counts: Int64) -> Float64:
        blocks = np.asarray(counts)[..., None] // self.sizes
        blocks[..., :-1] %= self.base
        return np.asarray((blocks @ self.relative) * self.law.variance)

    @property
    def mean_variance(self) -> float:
        """Mean of `variance` over 1..steps."""
        return _mean_relative(self.steps, self.base, self.levels) * self.law.variance

    def start(self, nodes: DerivedNodes) -> None:
        self.windows = [
            NoiseWindow(nodes, self.law, level, int(self.steps // size)) for level, size in enumerate(self.sizes)
        ]
        self.starts = np.zeros(self.levels, np.int64)
        self.estimates = np.zeros(self.levels)

    def advance(self, first: int, total: int, values: Int64) -> Float64:
        end = first + len(values)
        ends = [(first // int(size), end // int(size)) for size in self.sizes]
        noise = [window.values(*span) for window, span in zip(self.windows, ends, strict=True)]
        offsets = np.cumsum([0] + [len(part) for part in noise[:-1]])
        out = np.empty(len(values))
        drawn = np.concatenate(noise)
        _advance_tree(first, total, values, self.base, self.relative, drawn, offsets, self.starts, self.estimates, out)
        return out

    def state(self) -> dict[str, Any]:
        """Sums before the open blocks, and the estimates of the blocks completed inside them, per level."""
        return {"starts": self.starts.tolist(), "estimates": self.estimates.tolist()}

    def restore(self, state: Any, elements: Elements) -> None:
        state = fields(state, frozenset(("starts", "estimates")), "the state of a tree")
        starts = whole_numbers(state["starts"], self.levels, -MAX_TOTAL, MAX_TOTAL, "starts")
        before, sum_before = elements.count, elements.total
        for size, start in zip(self.sizes.tolist(), starts, strict=True):
            # what lies between the open block of this level and that of the level below
            first = elements.count // size * size
            if not (elements.allow(start, first) and elements.allow(sum_before - start, before - first)):
                raise ParameterError(f"starts of a stored running total contradict the {elements.count} elements")
            before, sum_before = first, start
        estimates = numbers(state["estimates"], self.levels, float(self.steps) * _MAX_NOISE, "estimates")
        self.starts, self.estimates = np.array(starts, np.int64), np.array(estimates)


def _relative_variances(base: int, levels: int) -> Float64:
    """V_l of every level, shape (levels,)."""
    variances = [1.0]
    for _ in range(levels - 1):
        variances.append(1 / (1 + 1 / (base * variances[-1])))
    return np.array(variances)


def _best_blocks(steps: int, *, pure: bool) -> tuple[int, int]:
    """(base, levels) of least mean variance; noise variance grows with levels^2 for pure privacy, else with levels."""
    choices = [
        (base, levels)
        for base in range(2, MAX_BASE + 1)
        for levels in range(1, steps.bit_length() + 1)
        if base ** (levels - 1) <= steps
    ]
    return min(choices, key=lambda c: _mean_relative(steps, *c) * c[1] ** (2 if pure else 1))


def _mean_relative(steps: int, base: int, levels: int) -> float:
    """Mean over t = 1..steps of the sum of V_l over the blocks that make up 1..t."""
    starts = [_sum_of_quotients(steps, base**level) for level in range(levels)]
    counts = [low - base * high for low, high in zip(starts, [*starts[1:], 0], strict=True)]
    return math.fsum(c * v for c, v in zip(counts, _relative_variances(base, levels), strict=True)) / steps


def _sum_of_quotients(steps: int, size: int) -> int:
    """Sum of floor(t / size) over t = 1..steps."""
    whole, rest = divmod(steps, size)
    return size * whole * (whole - 1) // 2 + whole * (rest + 1)


@njit()
def _advance_tree(
    first: int,
    total: int,
    values: Int64,
    base: int,
    relative: Float64,
    noise: Int64,
    offsets: Int64,
    starts: Int64,
    estimates: Float64,
    out: Float64,
) -> None:
    """Take elements one by one; `starts`, `estimates`, and the positions in `offsets`, are updated in place."""
    for step in range(len(values)):
        total += values[step]
        count = first + step + 1
        for level in range(len(starts)):
            if level > 0:
                if count % base:
                    break
                count //= base
            # published: the sum of the block that ends here, plus its noise
            value = float(total - starts[level] + noise[offsets[level]])
            offsets[level] += 1
            starts[level] = total
            if level > 0:
                below = base * relative[level - 1]
                value = relative[level] * (value + estimates[level - 1] / below)
                estimates[level - 1] = 0.0
            estimates[level] += value
        running = 0.0
        for level in range(len(starts)):
            running += estimates[level]
        out[step] = running


# --- The square-root factorization, in integers
#
# The lower-triangular matrix of ones is the square of the Toeplitz matrix C with coefficients
# r_0 = 1, r_k = r_{k-1} (2k - 1) / (2k). With C' = round(2^20 C) the integers
#
#     y_t = sum over k of C'_k x_{t-k} + discrete Gaussian noise, independent for every t,
#
# are published one after another. An element x_p enters y_t with the fixed weight C'_{t-p}, so
# this is adaptive composition with known sensitivities: a change by d costs
# d^2 (sum of C'_k^2) / (2 sigma^2), also for streams that react to what was published. Totals are
# post-processing: W y with W = A C'^{-1}, A the matrix of ones; W is close to 2^-20 C.

SHIFT = 20
MAX_SQRT_STEPS = 1 << 17


def concentrated(steps: int, privacy: PureDP | ZeroConcentratedDP, most: int) -> Fraction:
    """The rho of a square-root factorization, which takes at most `most` steps."""
    if isinstance(privacy, PureDP):
        raise ParameterError("the square-root factorization needs `ZeroConcentratedDP` or `ApproxDP`, not `PureDP`")
    if steps > most:
        raise ParameterError(f"the square-root factorization takes at most {most} steps, got {steps}")
    return privacy.rho


class SqrtTotals(Engine):
    """Square-root factorization of the running totals; memory and time per step O(steps).

    For at most 2^17 steps and zero-concentrated privacy.
    """

    name = "sqrt"

    def __init__(self, steps: int, privacy: PureDP | ZeroConcentratedDP, change: int, largest: int) -> None:
        rho = concentrated(steps, privacy, MAX_SQRT_STEPS)
        self.steps, self.change = steps, change
        self.weights = np.rint(np.ldexp(root_coefficients(steps), SHIFT)).astype(np.int64)
        self.squared = sum(weight * weight for weight in self.weights.tolist())
        refusal = "bounds are too many times the resolution for exact sums of 64 bits"
        Range(0, largest * int(self.weights.sum())).check(ROOM >> 1, refusal, ParameterError)
        self.law = DiscreteGaussian(round_up_root(self.squared * change * change / (2 * rho)))
        self.inverse = estimator_coefficients(self.weights)

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        return measured_loss([self.law], l1=[0], l2_squared=[self.squared * self.change**2])

    def variance(self, counts: Int64) -> Float64:
        sums = np.concatenate(([0.0], np.cumsum(self.inverse**2)))
        return np.asarray(sums[np.asarray(counts)] * self.law.variance)

    def start(self, nodes: DerivedNodes) -> None:
        self.window = NoiseWindow(nodes, self.law, 0, self.steps)
        self.elements = np.zeros(self.steps, np.int64)
        self.published = np.zeros(self.steps, np.int64)
        self.taken = 0

    def advance(self, first: int, total: int, values: Int64) -> Float64:
        end = first + len(values)
        self.elements[first:end] = values
        noise = self.window.values(first, end)
        out = np.empty(len(values))
        _advance_sqrt(first, self.elements, self.published, noise, self.weights, self.inverse, out)
        self.taken = end
        return out

    def state(self) -> dict[str, Any]:
        """All elements so far, and what was published of them."""
        return {"elements": self.elements[: self.taken].tolist(), "published": self.published[: self.taken].tolist()}

    def restore(self, state: Any, elements: Elements) -> None:
        state = fields(state, frozenset(("elements", "published")), "the state of a square-root factorization")
        taken = elements.count
        values = whole_numbers(state["elements"], taken, elements.low, elements.high, "elements")
        published = whole_numbers(state["published"], taken, -WORD - 1, WORD, "published")
        if sum(values) != elements.total:
            raise ParameterError(f"elements of a stored running total must add up to its total, {elements.total}")
        self.taken = taken
        self.elements[:taken], self.published[:taken] = values, published


def root_coefficients(count: int) -> Float64:
    """r_0..r_{count-1}, the coefficients of (1 - z)^(-1/2)."""
    k = np.arange(1, count)
    return np.concatenate(([1.0], np.cumprod((2 * k - 1) / (2 * k))))


def estimator_coefficients(weights: Int64) -> Float64:
    """Coefficients of 1 / ((1 - z) C'(z)), by Newton's iteration on power series."""
    series = weights.astype(np.float64)
    inverse = np.array([1.0 / series[0]])
    while len(inverse) < len(series):
        length = min(2 * len(inverse), len(series))
        rest = -fftconvolve(series[:length], inverse)[:length]
        rest[0] += 2.0
        inverse = fftconvolve(rest, inverse)[:length]
    return np.asarray(np.cumsum(inverse))


@njit()
def _advance_sqrt(
    first: int, elements: Int64, published: Int64, noise: Int64, weights: Int64, inverse: Float64, out: Float64
) -> None:
    """Publish exact integer sums plus noise, then estimate from what was published alone."""
    for step in range(len(out)):
        at = first + step
        exact = noise[step]
        for k in range(at + 1):
            exact += weights[k] * elements[at - k]
        published[at] = exact
        estimate = 0.0
        for k in range(at + 1):
            estimate += inverse[k] * published[at - k]
        out[step] = estimate

"""Noise drawn inside a circuit, from private bits of both parties that neither of them can know or choose.

Every uniform bit is the XOR of one bit of each party: uniform, and unknown to the other, as soon as one of them draws
its own uniformly. A circuit cannot stop early, so a biased bit always reads all its uniform bits.

Source:
    `ustatistics.md`, section 8; `crypto.md`, section 9; Dwork et al. 2006; Champion, shelat, Ullman 2019.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from ogive.core.checks import whole
from ogive.crypto.circuits.arithmetic import Number, extended, sum_of_bits
from ogive.crypto.circuits.circuit import Bit, Builder, Signed, Unsigned
from ogive.errors import ParameterError, quoted

# --- Exact laws of the noise, with the rounded probabilities that circuits really draw with
#
# What is promised, and how an estimate is corrected, follows from these and not from the ideal laws. Probabilities of
# biased bits are whole thresholds T of 2^precision, from exact logarithms of odds. A float has 53 bits, and a threshold
# has 64: they are made by decimal arithmetic of many more digits.
#
# Source:
#     `ustatistics.md`, sections 7.2 and 8; `crypto.md`, section 9.

DEFAULT_PRECISION = 64
MAX_PRECISION = 64
DIGITS = 60
_LARGEST = Fraction(200)
"""Larger exponents are taken for this one, whose probability is far below any threshold's and still a short number."""


def check_precision(precision: int) -> None:
    """Refuse a number of uniform bits that thresholds cannot be made for."""
    whole(precision, "precision", 1, MAX_PRECISION)


def as_decimal(value: Fraction) -> Decimal:
    """A fraction to as many digits as the context has."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def probability(exponent: Fraction, times: Fraction = Fraction(1)) -> Fraction:
    """1 / (1 + times e^exponent), to far more digits than a threshold has; never much less than e^-200."""
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction(1 / (1 + as_decimal(times) * as_decimal(min(exponent, _LARGEST)).exp()))


def log_odds(value: Fraction) -> Fraction:
    """ln(p / (1 - p)) to many digits, for p strictly between 0 and 1."""
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction(as_decimal(value / (1 - value)).ln())


@dataclass(frozen=True, kw_only=True)
class ResponseLaw:
    """Randomized response over 2 or 3 values: another one, each as likely, with probability T / 2^precision."""

    values: int
    threshold: int
    precision: int

    @classmethod
    def of(cls, epsilon: Fraction, *, values: int, precision: int = DEFAULT_PRECISION) -> ResponseLaw:
        """The law of least noise that is epsilon-private, for changes of either input.

        Args:
            epsilon: Of one response, above 0.
            values: 2 or 3.
            precision: Uniform bits, from 1 to 64.

        Privacy:
            Pure; the threshold is rounded up, so the loss is never above epsilon.
        """
        check_precision(precision)
        if values not in (2, 3) or epsilon <= 0:
            raise ParameterError(f"`values` must be 2 or 3 and epsilon above 0, got {quoted(values)} and {epsilon}")
        ideal = probability(epsilon, Fraction(1, values - 1))
        threshold = math.ceil(ideal * (1 << precision))
        if threshold * values >= (1 << precision) * (values - 1):
            raise ParameterError(f"precision {precision} leaves no signal at epsilon {float(epsilon):g}: raise it")
        return cls(values=values, threshold=threshold, precision=precision)

    @property
    def change(self) -> Fraction:
        return Fraction(self.threshold, 1 << self.precision)

    @property
    def uniform_bits(self) -> int:
        """Bits that each party must give: the comparison's, and one that chooses among two other values."""
        return self.precision + self.values - 2

    @property
    def epsilon(self) -> float:
        """What a response costs, rounded up: ln of the likelier response over the other."""
        other = self.change / (self.values - 1)
        return _up(log_odds((1 - self.change) / (1 - self.change + other)))

    def unbiased(self, values: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """What to count for each response, an index of these values of the kernel, so that its mean is the true one."""
        uniform = self.change * self.values / (self.values - 1)
        mean = sum(values, Fraction(0)) / self.values
        return tuple((value - uniform * mean) / (1 - uniform) for value in values)

    def variance(self, values: Sequence[Fraction], true: int) -> Fraction:
        """Variance of what is counted for a pair, of these values of the kernel and this index of its true one."""
        other = self.change / (self.values - 1)
        counted = self.unbiased(values)
        squares = sum((other * value**2 for value in counted), Fraction(0))
        return squares + (1 - self.change - other) * counted[true] ** 2 - values[true] ** 2


@dataclass(frozen=True, kw_only=True)
class LaplaceLaw:
    """Truncated discrete Laplace noise: 0 with the flag's probability, else +-(1 + G), G of independent binary digits.

    Args:
        sensitivity: The most that one person's input changes the kernel's whole value.
        scale: t of the ideal law, whose probabilities fall by e^(-1/t) a step.
        flag: Threshold of the zero flag, of 2^precision.
        digits: Thresholds of the digits of G, the least significant first.
        precision: Uniform bits that each comparison reads.
    """

    sensitivity: int
    scale: Fraction
    flag: int
    digits: tuple[int, ...]
    precision: int

    @classmethod
    def of(cls, epsilon: Fraction, *, sensitivity: int, digits: int, precision: int = DEFAULT_PRECISION) -> LaplaceLaw:
        """The law of scale sensitivity / epsilon with a stated number of digits.

        Args:
            epsilon: Before the probabilities are rounded, above 0; `LaplaceLaw.epsilon` is what is paid.
            sensitivity: A whole number above 0.
            digits: Of G; 2^digits may not be below the sensitivity.
            precision: Uniform bits, from 1 to 64.

        Raises:
            ParameterError: an argument is out of its range, or the last digit so rare that rounding could move its
                log-odds by 2^(-precision / 4).
        """
        check_precision(precision)
        if epsilon <= 0 or sensitivity < 1 or digits < 0 or 1 << digits < sensitivity:
            raise ParameterError(
                f"epsilon and sensitivity must be above 0 and 2^digits not below the sensitivity, got {epsilon}, "
                f"{sensitivity} and {digits} digits"
            )
        scale = Fraction(sensitivity) / epsilon
        ideal = [_zero_probability(scale), *(probability(2**place / scale) for place in range(digits))]
        if min(ideal[0], ideal[-1], 1 - ideal[0]) ** 4 <= Fraction(1, 1 << 3 * precision):
            raise ParameterError(f"precision {precision} is too low for {digits} digits at scale {float(scale):g}")
        flag, *thresholds = (round(chance * (1 << precision)) for chance in ideal)
        return cls(sensitivity=sensitivity, scale=scale, flag=flag, digits=tuple(thresholds), precision=precision)

    @classmethod
    def within(
        cls, epsilon: Fraction, *, delta: float, sensitivity: int, precision: int = DEFAULT_PRECISION
    ) -> LaplaceLaw:
        """The law with the fewest digits whose delta is not above a stated one, and whose end adds nothing to epsilon.

        The other arguments are those of `of`.

        Raises:
            ParameterError: an argument is out of its range, or the precision too low for so small a delta.
        """
        if not delta > 0:
            raise ParameterError(f"`delta` must be above 0, got {quoted(delta)}")
        digits = max(1, (sensitivity - 1).bit_length())
        while True:
            law = cls.of(epsilon, sensitivity=sensitivity, digits=digits, precision=precision)
            if law.delta <= delta and law._loss_at_zero <= law._loss_of_steps:
                return law
            digits += 1

    @property
    def uniform_bits(self) -> int:
        """Bits that each party must give: a comparison for the flag and for every digit, and the sign."""
        return self.precision * (len(self.digits) + 1) + 1

    @property
    def largest(self) -> int:
        return 1 << len(self.digits)

    @property
    def epsilon(self) -> float:
        """What a release costs where the noise of both neighbours has support, rounded up."""
        return _up(max(self._loss_of_steps, self._loss_at_zero))

    @property
    def delta(self) -> float:
        """Probability that noise is so large that a neighbour cannot have given the same sum, rounded up."""
        return _up(self._sided * self._tail(self.largest - self.sensitivity))

    @property
    def variance(self) -> Fraction:
        """Variance of the noise, whose mean is 0."""
        chances = [self._chance(threshold) for threshold in self.digits]
        mean = sum((chance * 2**place for place, chance in enumerate(chances)), Fraction(0))
        spread = sum((chance * (1 - chance) * 4**place for place, chance in enumerate(chances)), Fraction(0))
        return 2 * self._sided * (spread + (1 + mean) ** 2)

    def probability(self, noise: int) -> Fraction:
        """The exact probability of one value of the noise."""
        if noise == 0:
            return self._chance(self.flag)
        if abs(noise) > self.largest:
            return Fraction(0)
        result = self._sided
        for place, threshold in enumerate(self.digits):
            chance = self._chance(threshold)
            result *= chance if abs(noise) - 1 >> place & 1 else 1 - chance
        return result

    @property
    def _loss_of_steps(self) -> Fraction:
        """The loss of the ideal law, plus the most that rounding the flag and the digits moves log-ratios by."""
        moved = abs(log_odds(self._chance(self.flag)) - log_odds(_zero_probability(self.scale)))
        for place, threshold in enumerate(self.digits):
            moved += abs(log_odds(self._chance(threshold)) + 2**place / self.scale)
        return self.sensitivity / self.scale + moved

    @property
    def _loss_at_zero(self) -> Fraction:
        """How much likelier 1 is than 0, as a logarithm; few digits squeeze all noise but 0 together."""
        one, zero = self.probability(1), self.probability(0)
        return log_odds(one / (one + zero))

    @property
    def _sided(self) -> Fraction:
        return (1 - self._chance(self.flag)) / 2

    def _tail(self, least: int) -> Fraction:
        """Probability that G is at least a number from 0 to 2^digits - 1, digit by digit."""
        result = Fraction(1)
        for place, threshold in enumerate(self.digits):
            chance = self._chance(threshold)
            result = chance * result if least >> place & 1 else chance + (1 - chance) * result
        return result

    def _chance(self, threshold: int) -> Fraction:
        return Fraction(threshold, 1 << self.precision)


def _zero_probability(scale: Fraction) -> Fraction:
    """(1 - e^(-1/t)) / (1 + e^(-1/t)), the discrete Laplace law's probability of 0."""
    return 1 - 2 * probability(1 / scale)


def _up(value: Fraction) -> float:
    """The least float that is not below a number."""
    result = float(value)
    return result if Fraction(result) >= value else math.nextafter(result, math.inf)


# --- Noise drawn inside a circuit


def uniform_bits(builder: Builder, count: int, name: str = "noise") -> tuple[Bit, ...]:
    """Bits that are uniform where one party's are; free, for one input bit of each party."""
    ours, theirs = builder.garbler(name, count), builder.evaluator(name, count)
    return tuple(a ^ b for a, b in zip(ours.bits, theirs.bits, strict=True))


def biased_bit(uniforms: Sequence[Bit], threshold: int) -> Bit:
    """Whether a uniform number is below a public threshold: probability T / 2^k; at most k - 1 ANDs."""
    if threshold == 1 << len(uniforms):
        return ~(uniforms[0] ^ uniforms[0])
    below = uniforms[0] ^ uniforms[0]
    for place, bit in enumerate(uniforms):
        below = ~bit | below if threshold >> place & 1 else ~bit & below
    return below


def respond_binary(value: Bit, law: ResponseLaw, uniforms: Sequence[Bit]) -> Bit:
    """The bit, or its complement with the law's probability; k - 1 ANDs."""
    _check(law.values == 2 and len(uniforms) == law.uniform_bits)
    return value ^ biased_bit(uniforms, law.threshold)


def respond_ternary(value: Unsigned, law: ResponseLaw, uniforms: Sequence[Bit]) -> Unsigned:
    """The number 0, 1 or 2, or one of the other two with the law's probability; k + 4 ANDs."""
    _check(law.values == 3 and len(uniforms) == law.uniform_bits and value.width == 2)
    change = biased_bit(uniforms[:-1], law.threshold)
    by_two = change & uniforms[-1]
    by_one = change ^ by_two
    one, two = value.bits
    zero = ~(one ^ two)
    # at most one of by_one and by_two is set, and one of zero, one and two
    return Unsigned(
        (one ^ (by_one & (one ^ zero)) ^ (by_two & (one ^ two)), two ^ (by_one & (two ^ one)) ^ (by_two & (two ^ zero)))
    )


def index_of_sign(sign: Signed) -> Unsigned:
    """A sign -1, 0 or 1 as the number 2, 0 or 1, which `respond_ternary` takes; free."""
    low, high = sign.bits
    return Unsigned((low ^ high, high))


def add_laplace(value: Number, law: LaplaceLaw, uniforms: Sequence[Bit]) -> Signed:
    """The number with discrete Laplace noise, in a width that never overflows.

    For m digits, precision k and an output of width w at most (m + 1)(k - 1) + 2m + w - 1 ANDs.
    """
    _check(len(uniforms) == law.uniform_bits)
    sign, rest = uniforms[-1], uniforms[:-1]
    parts = [rest[start : start + law.precision] for start in range(0, len(rest), law.precision)]
    nonzero = ~biased_bit(parts[0], law.flag)
    digits = [biased_bit(part, threshold) for part, threshold in zip(parts[1:], law.digits, strict=True)]
    return add_signed_magnitude(value, digits, nonzero, sign)


def add_signed_magnitude(value: Number, digits: Sequence[Bit], nonzero: Bit, sign: Bit) -> Signed:
    """The number plus or minus one more than the digits' number, or plus nothing.

    For m digits and an output of width w = max(m, the number's) + 2: 2m + w - 1 ANDs.
    """
    carry = ~(sign ^ sign)
    magnitude = []
    for digit in digits:
        magnitude.append((digit ^ carry) & nonzero)
        carry = digit & carry
    magnitude.append(carry & nonzero)
    width = max(value.width, len(digits)) + 2
    noise = [bit ^ sign for bit in extended(Unsigned(tuple(magnitude)), width)]
    return Signed(sum_of_bits(extended(value, width), noise, sign))


def _check(fits: bool) -> None:
    if not fits:
        raise ParameterError("the law is of another number of values or uniform bits than it is given here")

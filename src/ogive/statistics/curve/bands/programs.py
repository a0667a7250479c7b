"""The smallest and the largest distribution function that noisy measurements allow, by linear programming.

All that is known of the records is that their histogram x lies in

    { x >= 0 : |A x - y| <= r },   with sum x = n where the number of records is public.

Divided by the number of records, p = x / n and s = 1 / n:

    { p >= 0, sum p = 1, s in [s0, s1] :   -r s <= A p - y s <= r s }          (*)

which is linear in (p, s) also where n is not known. F at threshold t is the sum of p up to t, so the ends of a band are
the largest and the smallest value of a linear function on (*): moment problems, as of Chebyshev, Markov and
Stieltjes.

Every end comes with its proof. For any multipliers u, v >= 0 and any (p, s) in (*), adding up gives, for every c,

    c p  <=  max_j (c - g)_j  +  max over s of s (u (y + r) - v (y - r)),      g = (u - v) A.

The solver is used only to find good multipliers; the ends are the right-hand side, evaluated on all bins. So neither
its tolerance nor solving on a part of the bins makes an end invalid, only a little wider. One pair of multipliers
bounds F at all thresholds at once (c is 1 up to t, else 0), and the best bound of all pairs is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.arrays import Float64, Int64

_BINS = 160  # solved on about these many; certified on all
PROGRAMS = 96
"""Thresholds for which programs are solved, in both directions."""


@dataclass(frozen=True, eq=False)
class Feasible:
    """The set (*).

    Fields:
        features: A, shape (M, N).
        answer: y, shape (M,).
        radius: r, shape (M,).
        slack: What rounding may add to |A p - y s|, shape (M,).
        ends: s0 and s1.
    """

    features: Float64
    answer: Float64
    radius: Float64
    slack: Float64
    ends: tuple[float, float]

    def multipliers(self, objective: Float64, bins: Int64, *, scale: float = 0.0) -> Float64 | None:
        """Multipliers that bound objective p + scale s well, solved on some bins.

        Returns:
            u and v, shape (2, M); None where nothing is feasible.
        """
        from scipy.optimize import linprog  # slow to import, and needed for these bands only

        columns = self.features[:, bins]
        rows = np.concatenate(
            (
                np.concatenate((columns, -(self.answer + self.radius)[:, np.newaxis]), axis=1),
                np.concatenate((-columns, (self.answer - self.radius)[:, np.newaxis]), axis=1),
            )
        )
        least, most = self.ends
        unit = 1.0 / most  # the last variable is s / s1, of the size of the others
        rows[:, -1] *= most
        solved = linprog(
            -np.append(objective[bins], scale * most),
            A_ub=rows,
            b_ub=np.tile(self.slack, 2),
            A_eq=np.append(np.ones(len(bins)), 0.0)[np.newaxis],
            b_eq=[1.0],
            bounds=[(0, None)] * len(bins) + [(least * unit, 1.0)],
            method="highs-ds",
            options={"presolve": False},
        )
        if solved.status == 2:
            return None
        if solved.status != 0:
            return np.zeros((2, len(self.answer)))
        found: Float64 = np.maximum(-solved.ineqlin.marginals, 0.0).reshape(2, -1)
        return found

    def constant(self, multipliers: Float64, *, scale: float = 0.0) -> float:
        """The part of the bound that no bin enters."""
        u, v = multipliers
        slope = scale + float(u @ (self.answer + self.radius) - v @ (self.answer - self.radius))
        return max(end * slope for end in self.ends) + float((u + v) @ self.slack)

    def price(self, multipliers: Float64) -> Float64:
        """What the multipliers charge each bin, g, shape (N,)."""
        return np.asarray((multipliers[0] - multipliers[1]) @ self.features)


def most_mass(feasible: Feasible, thresholds: Int64) -> Float64 | None:
    """The largest F at every threshold, certified, shape (N,); None where nothing is feasible."""
    size = feasible.features.shape[1]
    best = np.ones(size)
    for threshold in thresholds.tolist():
        bins = some_bins(size, threshold)
        found = feasible.multipliers((np.arange(size) <= threshold).astype(np.float64), bins)
        if found is None:
            return None
        price = feasible.price(found)
        below = np.maximum.accumulate(1 - price)
        above = np.append(np.maximum.accumulate(-price[::-1])[::-1][1:], -np.inf)
        best = np.minimum(best, np.maximum(below, above) + feasible.constant(found))
    best[-1] = 1.0
    monotone: Float64 = np.minimum.accumulate(best[::-1])[::-1]
    return np.clip(monotone, 0.0, 1.0)


def fewest_records(feasible: Feasible) -> float:
    """A number that the records are not fewer than, if (*) holds them; 0 where nothing is known."""
    size = feasible.features.shape[1]
    found = feasible.multipliers(np.zeros(size), some_bins(size, 0), scale=1.0)
    if found is None:
        return 0.0
    largest = float(np.max(-feasible.price(found))) + feasible.constant(found, scale=1.0)
    return 0.0 if largest <= 0 else 1.0 / largest


def mass_ends(feasible: Feasible, thresholds: Int64) -> tuple[Float64, Float64] | None:
    """The smallest and the largest F at every threshold, shape (N,) each; None where nothing is feasible.

    The smallest is 1 less the largest mass above a threshold, which is the same problem with the axis reversed.
    """
    high = most_mass(feasible, thresholds)
    if high is None:
        return None
    size = len(high)
    mirrored = Feasible(feasible.features[:, ::-1], feasible.answer, feasible.radius, feasible.slack, feasible.ends)
    above = most_mass(mirrored, (size - 2 - thresholds)[thresholds < size - 1])
    if above is None:
        return None
    # the mass above threshold t is that of the first N - 1 - t bins from the other side
    low = np.append(1 - above[::-1][1:], 1.0)
    return np.minimum(low, high), high


def some_bins(size: int, threshold: int) -> Int64:
    """Bins on which a program is solved: all of few, else some, closer at both ends and at the threshold."""
    if size <= _BINS:
        return np.arange(size)
    spread = (1 - np.cos(np.linspace(0, np.pi, _BINS))) / 2
    near = threshold + np.array([-16, -8, -4, -2, -1, 0, 1, 2, 3, 5, 9, 17])
    chosen = np.concatenate((np.rint(spread * (size - 1)).astype(np.int64), near))
    return np.unique(chosen[(chosen >= 0) & (chosen < size)])


def some_thresholds(raw: Float64, programs: int | None = None) -> Int64:
    """Thresholds for which programs are solved: half of them evenly over the axis, half where the curve rises."""
    size, programs = len(raw), PROGRAMS if programs is None else programs
    if size <= programs:
        return np.arange(size)
    rising = np.maximum.accumulate(np.maximum(raw, 0)) + 1e-9 * np.arange(size)
    reached = np.searchsorted(rising, np.linspace(0, rising[-1], programs // 2))
    even = np.rint(np.linspace(0, size - 1, programs // 2)).astype(np.int64)
    return np.unique(np.clip(np.concatenate((reached, even)), 0, size - 1))

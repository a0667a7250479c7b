"""A released distribution function: the estimate that can be asked, compared, drawn and stored."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ogive import pictures
from ogive.axis import last_at_or_below, plain, to_labels, to_numbers, to_shares
from ogive.checks import among
from ogive.errors import ParameterError
from ogive.pictures import Style
from ogive.rooms import room
from ogive.statistics.confidence import TARGETS, Target
from ogive.statistics.curve import bins as curve_bins
from ogive.statistics.curve import distance_forms
from ogive.statistics.curve import shape as curve_shape
from ogive.statistics.curve.base import CurveBase
from ogive.statistics.curve.bins import QuantileInterval
from ogive.statistics.curve.merging.merge import merge
from ogive.statistics.curve.shape import CurveMoments
from ogive.statistics.curve.steps import CurveFunction
from ogive.strategies.base import noise_share


class Curve(CurveBase):
    """Estimated share of records at or below every threshold; always a valid distribution function.

    The fields are those of `CurveBase`: `grid`, `cumulative`, `raw`, `strategy`, `adjacency`, `total`, `smoothing`,
    `column`, `provenance`, `measured` and `merged`.
    """

    def update(self, newer: Curve) -> Curve:
        """Add a released curve of newly collected people; no records are read again.

        Args:
            newer: A released curve of other people, on the same thresholds; see `merge`.

        Raises:
            ParameterError: a batch would count twice, or the curves do not match.

        Privacy:
            As `merge`: the privacy loss of a person is at most that of the most expensive batch, provided that no
            person is in two batches.
        """
        return merge(self, newer)

    # Asking

    def __call__(self, t: Any) -> Any:
        """F(t), the share of records at or below t; the same as `evaluate`."""
        return self.evaluate(t)

    def evaluate(self, t: Any) -> Any:
        """Share of records at or below each t, as a step function: F at the last threshold at or below t.

        Args:
            t: Numbers, or dates on a grid of dates; any shape, also infinite.

        Returns:
            A float, or an array of the shape of t; 0 below the first threshold.

        Raises:
            ParameterError: t is missing or of another kind than the grid's bounds.
        """
        return self.cdf.evaluate(t)

    def survival(self, t: Any) -> Any:
        """Share of records above each t, `1 - F(t)`."""
        return self.sf.evaluate(t)

    @property
    def cdf(self) -> CurveFunction:
        """The distribution function, in the shape of `scipy.stats.ecdf(...).cdf`."""
        return CurveFunction(self, "cdf")

    @property
    def sf(self) -> CurveFunction:
        """The survival function, in the shape of `scipy.stats.ecdf(...).sf`."""
        return CurveFunction(self, "sf")

    def quantile(self, p: Any) -> Any:
        """First threshold at which F reaches p, for each p in [0, 1].

        Returns:
            A number or date, or an array of them (dates as objects) of the shape of p.

        Raises:
            ParameterError: a p is outside [0, 1].
        """
        return to_labels(self.grid, self.thresholds[np.searchsorted(self.probabilities, to_shares(p), side="left")])

    def quantile_interval(
        self, p: Any, confidence_level: float = 0.95, *, target: Target = "population", width: str = "even"
    ) -> QuantileInterval:
        """Simultaneous confidence intervals of the quantiles of all p, by inverting the band.

        Bins are half-open, so the true quantile is above `low` and at most `high`; on a grid of
        integers it is at least `low`. Values outside the grid's bounds count as clipped to them.

        Args:
            p: Shares in [0, 1], any shape.
            confidence_level: Confidence level, above 0 and at most 0.9999.
            target: "population" or "sample"; see `band`.
            width: "even", or "narrowing" for shorter intervals of extreme quantiles; see `band`.

        Returns:
            low and high, each of the shape of p.

        Raises:
            ParameterError: an argument is out of range.
            UnsupportedError: no narrowing band is known for this curve or target.
        """
        return curve_bins.quantile_interval(to_shares(p), self.band(confidence_level, target=target, width=width))

    # Error

    def rmse(self) -> float:
        """Predicted root-mean-square error of the raw counts over the thresholds, as a share of the records.

        It includes noise only. Smoothing usually reduces it; the bias of an approximating strategy is not included.
        Infinite where the curve is not defined.
        """
        return float(np.sqrt(np.mean(self._variance))) / self.records if self.defined else float("inf")

    def noise_share(self) -> float:
        """As `rmse` where the noise may dominate the records; 0, without computation, where it clearly does not."""
        if self.strategy is None:
            return 0.0
        return noise_share(self.strategy, self.records if self.told else 0.0, total_known=self.total is not None)

    def errors(self, truth: Curve) -> dict[str, float]:
        """Distances from another curve on the same grid.

        Returns:
            ks: Largest difference at any threshold, as a share.
            rmse: Root mean squared difference over the thresholds, as a share.

        Raises:
            ParameterError: the other curve is on another grid.
        """
        if truth.grid != self.grid:
            raise ParameterError("curves on different grids do not compare threshold by threshold")
        gap = self.probabilities - truth.probabilities
        return {"ks": float(np.abs(gap).max()), "rmse": float(np.sqrt(np.mean(gap**2)))}

    def standard_error(self, t: Any, *, target: Target = "population") -> Any:
        """Standard deviation of the raw estimate at each t, as a share of the records.

        It is valid at one point at a time; for a whole curve use `band`. It leaves out the noise of a private number
        of records, and the bias of an approximating strategy, which cannot be estimated from the release. Where people
        are counted it leaves out what rounding their shares to whole units does, a bias of at most 1/1680 of the
        people, which `band` and `quantile_interval` include.

        Args:
            t: As for `evaluate`.
            target: "population" includes the sampling error; "sample" includes noise only.

        Returns:
            A float, or an array of the shape of t; infinite where the curve is not defined.

        Raises:
            ParameterError: t or target is invalid.
        """
        among(target, "target", TARGETS)
        numbers = to_numbers(self.grid, t)
        if not self.defined:
            return plain(np.full(numbers.shape, np.inf))
        points = last_at_or_below(self.grid, numbers)
        variance = np.concatenate(([0.0], self._variance))[points + 1] / self.records**2
        if target == "population":
            share = np.concatenate(([0.0], self.probabilities))[points + 1]
            variance = variance + self.rows_of_one * share * (1 - share) / self.records
        return plain(np.sqrt(variance))

    # Bins

    def histogram(self, edges: Any = None) -> curve_bins.Histogram:
        """Shares and counts between thresholds, by differences.

        Args:
            edges: Increasing thresholds (the first may be the grid's lower bound), or a number of equal
                groups of bins that divides N; by default every bin.

        Raises:
            ParameterError: an edge is no threshold, or the number does not divide N.
        """
        return curve_bins.histogram(self.grid, self.probabilities, self.records, edges)

    def mean(self) -> Any:
        """Mean of the values clipped to the bounds, with the mass of a bin at its midpoint."""
        return to_labels(self.grid, curve_bins.mean(self.grid, self.probabilities))

    def moments(self, order: int = 4) -> CurveMoments:
        """Mean, variance and means of powers up to an order, of values clipped to the bounds.

        A Legendre projection (on a grid of equal bins or of integers) measures them directly: they are unbiased, with
        known noise. For other curves they are computed from the smoothed curve, with the mass of a bin at its
        midpoint.

        Args:
            order: Highest power, from 1 to 15; a projection of degree K has K + 1 of its own.

        Raises:
            ParameterError: the order is out of range, or the curve is not defined.

        Privacy:
            Post-processing.
        """
        return curve_shape.moments(self, order)

    def sample(self, size: int, *, rng: np.random.Generator | int | None = None) -> Any:
        """Draw synthetic values from the curve, shape (size,).

        Draws are uniform within a bin, whole days on a grid of dates, and thresholds on a grid of integers.

        Args:
            size: Number of independent draws, at least 0.
            rng: Generator or seed. The draws are post-processing, so it need not be secret.

        Raises:
            ParameterError: size is not a whole number of at least 0.
        """
        return curve_bins.draw(self.grid, self.probabilities, size, np.random.default_rng(rng))

    # Showing

    def plot(
        self,
        ax: Any = None,
        *,
        confidence_level: float | None = 0.95,
        target: Target = "population",
        width: str = "even",
        **style: Unpack[Style],
    ) -> Any:
        """Draw the curve and its band; returns matplotlib axes.

        Args:
            ax: Axes to draw into; new ones by default.
            confidence_level: Confidence level of the band; None for no band.
            target: Target of the band, "population" or "sample".
            width: Of the band: "even", or "narrowing" in the tails; see `band`.
            style: Of the curve; see `ogive.plots.Style`.
        """
        options = {"confidence_level": confidence_level, "target": target, "width": width}
        return room(type(self), "plot").draw(self, ax, **options, **style)

    def plot_histogram(self, bins: int | None = None, ax: Any = None) -> Any:
        """Draw the share of the records in groups of bins; returns matplotlib axes.

        Args:
            bins: Number of groups of about equally many bins; by default 30.
            ax: Axes to draw into; new ones by default.

        Raises:
            ParameterError: there are fewer bins, or the curve is not defined.
        """
        self.check_defined()
        edges, shares = curve_shape.groups(self.grid, self.probabilities, bins)
        return room(type(self), "plot_shape").plot_shares(self, edges, shares, ax)

    def plot_qq(self, other: Any, ax: Any = None, *, points: int = 99, name: str | None = None) -> Any:
        """Draw quantiles of this curve against those of another distribution; returns matplotlib axes.

        Equal distributions give points on the diagonal.

        Args:
            other: A curve, a sample, or a known distribution; see `ogive.distances`. With a sample of private records
                the picture is not private, and `ogive.plots.save` makes the file readable by its owner only.
            ax: Axes to draw into; new ones by default.
            points: How many quantiles.
            name: Name of the other distribution.

        Raises:
            ParameterError: the other is on another axis, or one of the two is not defined.
        """
        ours, others = distance_forms.quantile_pairs(self, other, points)
        axes = room(type(self), "plot_shape").plot_quantiles(self, ours, others, name or "compared", ax)
        if not distance_forms.may_be_shown(other):
            pictures.keep_private(axes)
        return axes

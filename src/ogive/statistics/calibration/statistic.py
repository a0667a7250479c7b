"""Whether predicted probabilities agree with labels: Hosmer and Lemeshow's test over private groups."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Generator
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from ogive.accounting import loss_per_row
from ogive.columns import Binning, Label, LabelValue, Missing
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among, is_whole, one_of, whole
from ogive.errors import ParameterError, ScaleError, UnsupportedError, quoted
from ogive.noise import DiscreteLaplace, round_up_scale
from ogive.privacy import Adjacency, ApproxDP, Privacy, PrivacyUnit, PureDP, Rational, ZeroConcentratedDP, exact
from ogive.queries import Answer, CurveQuery, GroupSums, GroupSumsQuery, Query
from ogive.queries.sums import FORMS, FormName
from ogive.statistics.base import Terms, as_values, canonical_class
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.calibration.sums import CONSTANTS, Constants, Measured
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.readings import bisect_points
from ogive.statistics.ecdf.statistic import DEFAULT_BINS
from ogive.statistics.kinds import Command
from ogive.statistics.methods.base import curve_from, mean_variance
from ogive.statistics.methods.choose import UNBIASED_METHODS, UnbiasedName, candidates, choose, grants
from ogive.strategies import PathNoise, Strategy, design_path
from ogive.strategies.base import measured_laws

DEFAULT_GROUPS = 10
DEFAULT_BITS = 20
Fitted = Literal["fitted"]


@dataclass(frozen=True)
class HosmerLemeshow:
    """Hosmer and Lemeshow's goodness-of-fit test of predicted probabilities, with the groups behind it.

    The model must be fixed before the records are seen: public, or charged for separately.

    Fields:
        probability: Column of predicted probabilities of the positive class, in [0, 1].
        label: Column of labels.
        groups: Number of groups of about equal size, at least 2; fewer are made if quantiles of the probabilities
            coincide.
        positive: Value or values of the positive class.
        negative: Value or values of the negative class. By default 0 if the positive class is 1, else the only other
            value in the records.
        bins: Number of thresholds in [0, 1] from which the limits of the groups are chosen.
        method: Method for the distribution of the probabilities, as for `Ecdf`.
        split: Share of the budget for the limits of the groups, in (0, 1); None chooses it by predicted error.
        form: "difference" measures observed minus expected counts directly, with less noise than the expected counts;
            "counts" measures all four sums with equal noise.
        constants: "exact", or "paper" for the division and noise of the paper, for reproduction.
        bits: Fractional bits of sums of probabilities.
        floor: Smallest expected count to divide by.
        df: Degrees of freedom of the chi-square reference: None for the number of groups (for a model fitted on other
            records), "fitted" for two fewer (for a model fitted on these records), or a number.
        missing: What a missing probability means: "refuse" (an error), "low" (0) or "high" (1), or a public
            probability.
        confidence_level: Confidence level of the groups' intervals.

    Example:
        >>> import numpy as np, ogive
        >>> rng = np.random.default_rng(1)
        >>> predicted = rng.beta(1, 6, size=20_000)
        >>> fit = ogive.hosmer_lemeshow(predicted, rng.random(20_000) < predicted**2, privacy=ogive.PureDP(1))
        >>> fit.p_value < 0.01, len(fit.groups)
        (True, 10)
    """

    name: ClassVar[str] = "calibration"

    probability: str
    label: str
    _: KW_ONLY
    groups: int = DEFAULT_GROUPS
    positive: LabelValue | tuple[LabelValue, ...] = 1
    negative: LabelValue | tuple[LabelValue, ...] | None = None
    bins: int = DEFAULT_BINS
    method: UnbiasedName = "auto"
    split: Rational | None = None
    form: FormName = one_of(*reversed(FORMS))
    constants: Constants = one_of(*CONSTANTS)
    bits: int = DEFAULT_BITS
    floor: float = 1.0
    df: int | Fitted | None = None
    missing: Missing = one_of("refuse", "low", "high")
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        if not isinstance(self.probability, str):
            raise ParameterError(f"`probability` must be a column's name, got {quoted(self.probability)}")
        for name in ("positive", "negative"):
            object.__setattr__(self, name, as_values(getattr(self, name)))
        if self.negative is None and self.positive == (1,):
            object.__setattr__(self, "negative", (0,))
        among(self.constants, "constants", CONSTANTS)
        if self.constants == "paper":
            if self.split is not None or self.method not in ("auto", "path"):
                raise ParameterError("the paper's constants fix method and split; leave them out")
            object.__setattr__(self, "form", "counts")
        among(self.form, "form", FORMS)
        among(self.method, "method", ("auto", *UNBIASED_METHODS))
        object.__setattr__(self, "missing", self._aggregate(self._grid()).probability.missing)
        if isinstance(self.groups, str | tuple | list):
            raise ParameterError(
                f"`groups` of this test is how many groups are made of the predictions, from 2 to {self.bins}, got "
                f"{quoted(self.groups)}; the values of a column `by=` are named by `by_groups=`",
                parameter="groups",
            )
        whole(self.groups, "groups", 2, self.bins)
        if self.split is not None and not 0 < exact(self.split, "split") < 1:
            raise ParameterError(f"`split` must be strictly between 0 and 1, got {self.split}")
        if not exact(self.floor, "floor") > 0:
            raise ParameterError(f"`floor` must be above 0, got {self.floor}")
        object.__setattr__(self, "floor", float(exact(self.floor, "floor")))
        if self.df not in (None, "fitted") and not (is_whole(self.df) and self.df >= 1):
            raise ParameterError(
                f"`df` must be `None, 'fitted'` or a whole number of at least 1, got {quoted(self.df)}"
            )
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))

    def canonical(self) -> HosmerLemeshow:
        """The canonical form of the statistic."""
        return dataclasses.replace(
            self,
            positive=canonical_class(self.positive),
            negative=canonical_class(self.negative),
            method="auto" if self.constants == "paper" else self.method,
            split=None if self.split is None else exact(self.split, "split"),
        )

    def alternatives(self) -> dict[str, HosmerLemeshow]:
        """One statistic for each method of measuring the probabilities and each form."""
        if self.constants == "paper":
            return {"path": self}
        pairs = ((name, form) for form in reversed(FORMS) for name in UNBIASED_METHODS)
        return {f"{name}, {form}": dataclasses.replace(self, method=name, form=form) for name, form in pairs}

    def questions(self, terms: Terms) -> Generator[Query, Answer, Calibration]:
        """Ask for the distribution of the probabilities, then for the sums of the groups made from it.

        Privacy: two measurements, which together stay within `terms.privacy`; the rest is post-processing.
        """
        binning = Binning(self.probability, self._grid(), self.missing, "refuse")
        terms.check_cells(self.bins)
        check_scales(terms.privacy, f"{self.groups} groups", lambda privacy: self._try(terms, privacy))
        strategy, ask = self._design(terms)
        later = ask(Grid.linear(0, 1, bins=self.groups))
        refusal = terms.refusal(later)
        if refusal is not None:
            raise UnsupportedError(refusal)
        terms.preflight(later)
        answer = yield CurveQuery(binning, strategy)
        curve = curve_from(answer, binning, strategy, terms, "auto")
        raw = answer.values if self.constants == "paper" else None
        bounds = group_bounds(curve, self.groups, raw=raw)
        query = ask(bounds)
        answer = yield query
        return self._estimate(curve, query, answer)

    def _try(self, terms: Terms, privacy: Privacy) -> None:
        """Design both measurements for that guarantee, for groups as wide as they may become."""
        _, ask = self._design(dataclasses.replace(terms, privacy=privacy))
        for groups in (1, self.groups):
            ask(Grid.linear(0, 1, bins=groups))

    def _design(self, terms: Terms) -> tuple[Strategy, Any]:
        """How the curve is measured, and what makes the second query from the groups."""
        unit, rows = terms.unit, terms.unit.max_rows_per_person
        options = [loss_per_row(granted, rows) for granted in grants(terms.privacy)]
        if self.constants == "paper":
            pure = options[-1]
            path, scale = paper_noise(self.bins, pure)
            return path, lambda bounds: paper_query(self._aggregate(bounds), scale)

        def noise(granted: Granted) -> float:
            return difference_variance(granted, form=self.form, adjacency=terms.adjacency)

        granted = min(options, key=noise)
        share = (
            default_split(granted, bins=self.bins, method=self.method, form=self.form, adjacency=terms.adjacency)
            if self.split is None
            else exact(self.split, "split")
        )
        for_thresholds, for_sums = divide(granted, Fraction(share))
        binning = Binning(self.probability, self._grid(), self.missing, "refuse")
        strategy = choose(
            self.bins,
            for_thresholds,
            terms.adjacency,
            self.method,
            lambda candidate: terms.refusal(CurveQuery(binning, candidate)),
        )
        return strategy, lambda bounds: sums_query(self._aggregate(bounds), self.form, for_sums, unit)

    def _grid(self) -> Grid:
        return Grid.linear(0, 1, bins=self.bins)

    def _aggregate(self, bounds: Grid) -> GroupSums:
        probability = Binning(self.probability, bounds, self.missing, "refuse")
        assert isinstance(self.positive, tuple)
        assert self.negative is None or isinstance(self.negative, tuple)
        return GroupSums(probability, Label(self.label, self.positive, self.negative), self.bits)

    def _estimate(self, curve: Curve, query: GroupSumsQuery, answer: Answer) -> Calibration:
        bounds = query.groups.probability.grid
        measured = Measured.of(answer.noise_of(query), noisy=answer.noisy, constants=self.constants)
        result = Calibration(
            curve=curve,
            label=query.groups.label,
            bounds=bounds,
            values=answer.values,
            measured=measured,
            total=answer.total,
            p_value=math.nan,
            degrees_of_freedom=self._freedom(bounds.bins),
            floor=self.floor,
            confidence_level=self.confidence_level,
        )
        return result.with_p_value()

    def _freedom(self, groups: int) -> int:
        if isinstance(self.df, int):
            return self.df
        return groups if self.df is None else max(1, groups - 2)


def group_bounds(curve: Curve, groups: int, *, raw: Int64 | None = None) -> Grid:
    """Ends of half-open groups at the quantiles q / Q of a curve; equal ends are merged, the last is 1."""
    targets = np.arange(1, groups) / groups
    if raw is None:
        points = np.searchsorted(curve.probabilities, targets, side="left")
    else:
        points = np.maximum.accumulate(_bisect(raw / max(1.0, curve.records), targets))
    ends = sorted({float(curve.thresholds[point]) for point in points} | {1.0})
    return Grid.explicit(ends, low=0.0)


def _bisect(values: Float64, targets: Float64) -> Int64:
    search = bisect_points(targets, size=len(values))
    try:
        points = next(search)
        while True:
            points = search.send(values[points])
    except StopIteration as stop:
        result: Int64 = stop.value
        return result


# --- For the command line

COMMAND = Command(
    names={"df": "degrees-of-freedom"},
    help={
        "method": "How the limits of the groups are found: auto, path, tree_ls, hat_ls, sqrt, symmetric or ring.",
        "split": "Share of the budget that finds the groups, between 0 and 1; the best one by default.",
        "df": "Of the chi-square reference: by default one for each group; fitted for two fewer, where the model was "
        "fitted on these records; or a number.",
    },
    groups={"groups": "Question"},
)


# --- How the privacy of a calibration release is divided, before any answer is known
#
# The thresholds cost the share `split`, the group sums the rest. Thresholds decide only how equal the groups
# are, and the test is valid for any groups, so they need little. With groups of m records, sampling variance
# m / 8 of a group's deviation D (labels of probability near 1/7), noise of variance v on D if it had
# the whole privacy, and noise of variance t on a threshold's count likewise, a share a for the thresholds makes
#
#     v / (1 - a)^k  +  (m / 8) 2 t / (a^k m^2),      k = 2 for pure and 1 for concentrated privacy:
#
# noise on D, and what unequal groups lose, both as a variance of D. The default minimizes it at the m where noise
# on D is as large as sampling error, or at 100 records where that is more.

Granted = PureDP | ZeroConcentratedDP

SHARES = tuple(Fraction(j, 64) for j in range(1, 33))
SMALLEST_GROUP = 100.0
SAMPLING = 1 / 8
# The share of the group sums' privacy for the expected sums, where the difference is measured: it
# minimizes Var(2 D) / E + Var(E) / E^2, the relative variance of a group's term, at E = 16.
EXPECTED_SHARE = {PureDP: Fraction(1, 5), ZeroConcentratedDP: Fraction(1, 9)}
# standard deviations are rounded up by less than 2^-28 of themselves, so two roundings differ by less than this
_ROOM = 1 - Fraction(1, 1 << 26)


def divide(granted: Granted, share: Fraction) -> tuple[Granted, Granted]:
    """Guarantees of one record: the share for the thresholds, and the rest for the sums."""
    if isinstance(granted, PureDP):
        return PureDP(granted.epsilon * share), PureDP(granted.epsilon * (1 - share))
    return ZeroConcentratedDP(granted.rho * share), ZeroConcentratedDP(granted.rho * (1 - share))


def default_split(granted: Granted, *, bins: int, method: str, form: str, adjacency: Adjacency) -> Fraction:
    """The share of one record's privacy for the thresholds that the text above describes."""
    power = 2 if isinstance(granted, PureDP) else 1
    noise = difference_variance(granted, form=form, adjacency=adjacency)
    spread = mean_variance(candidates(bins, granted, adjacency, method)[0], adjacency)
    size = max(SMALLEST_GROUP, noise / SAMPLING)

    def loss(share: Fraction) -> float:
        a = float(share)
        return noise / (1 - a) ** power + 2 * SAMPLING * spread / (a**power * size)

    return min(SHARES, key=loss)


def difference_variance(granted: Granted, *, form: str, adjacency: Adjacency) -> float:
    """About the variance of the noise on a group's D = observed - expected, if the sums had this much privacy."""
    moved = 2 if adjacency is Adjacency.REPLACE else 1
    share = Fraction(1, 2) if form == "counts" else 1 - EXPECTED_SHARE[type(granted)]
    if isinstance(granted, PureDP):
        return 2 * float(moved / (share * granted.epsilon)) ** 2
    return float(moved / (2 * share * granted.rho))


def sums_query(groups: GroupSums, form: str, granted: Granted, unit: PrivacyUnit) -> GroupSumsQuery:
    """Noise for the group sums of a guarantee for one record: equal on "counts", unequal on "difference"."""
    query = _designed(groups, form, granted, unit.adjacency)
    row = loss_per_row(query.price(unit), unit.max_rows_per_person)
    if isinstance(row, ZeroConcentratedDP) and isinstance(granted, ZeroConcentratedDP) and row.rho > granted.rho:
        # within a wide group one record moves the difference by more than two groups' records do
        query = _designed(groups, form, ZeroConcentratedDP(granted.rho**2 / row.rho * _ROOM), unit.adjacency)
    return query


def _designed(groups: GroupSums, form: str, granted: Granted, adjacency: Adjacency) -> GroupSumsQuery:
    """Noise that costs no more than the guarantee unless a group is wide."""
    one = 1 << groups.bits
    moved = 2 if adjacency is Adjacency.REPLACE else 1
    second = 1 if form == "counts" else one
    share = Fraction(1, 2) if form == "counts" else EXPECTED_SHARE[type(granted)]
    expected, observed = measured_laws(
        granted,
        (share, 1 - share),
        l1=(moved * one, moved * second),
        l2_squared=(moved * one**2, moved * second**2),
    )
    return GroupSumsQuery(groups, expected, observed, form=form)


def paper_noise(bins: int, granted: Granted) -> tuple[PathNoise, Fraction]:
    """The paper's thresholds and its one noise scale, in records: eps' = epsilon / (L + 9).

    Its exact price is smaller: (L + 4) eps' or less under REPLACE, since a record moves the sums by 4, not 8.
    """
    if not isinstance(granted, PureDP):
        raise ParameterError("the paper's constants are for pure privacy, for example `privacy=PureDP(1)`")
    height = (bins - 1).bit_length()
    scale = round_up_scale((height + 9) / granted.epsilon)
    strategy = design_path(bins, privacy=PureDP((height + 1) / scale), adjacency=Adjacency.REPLACE, constants="paper")
    return strategy, scale


def paper_query(groups: GroupSums, scale: Fraction) -> GroupSumsQuery:
    """4 Q noises of one scale on the sums of half-open groups."""
    fine = DiscreteLaplace(round_up_scale(scale * (1 << groups.bits)))
    return GroupSumsQuery(groups, fine, DiscreteLaplace(scale), form="counts")


# --- The smallest guarantee whose noise can be drawn
#
# Each measurement has only a share of the guarantee, and its own refusal knows only that share, so what would do for
# the whole release is found by trying: designs depend on public numbers alone.

_LARGEST = 6  # as a power of ten; every design can be drawn far below


def check_scales(privacy: Privacy, what: str, design: Callable[[Privacy], None]) -> None:
    """Refuse a guarantee whose noise cannot be drawn, naming the smallest one of the same type that can."""
    if _fits(privacy, _amount(privacy), design):
        return
    name = "rho" if isinstance(privacy, ZeroConcentratedDP) else "epsilon"
    enough = smallest_that_fits(privacy, design)
    advice = f"use at least {name} = {enough}" if enough else f"use a larger {name}"
    if isinstance(privacy, ApproxDP) and enough:
        advice += " at this delta"
    raise ScaleError(f"{privacy} for {what} needs noise above 2^47, the largest scale that can be drawn; {advice}")


def smallest_that_fits(privacy: Privacy, design: Callable[[Privacy], None]) -> str | None:
    """Two digits of epsilon or rho, with which the design succeeds; None if none does."""
    # from the power of ten above it; nothing below 10^-20 can be drawn
    exponent = math.ceil(math.log10(max(1e-20, float(_amount(privacy)))))
    while not _fits(privacy, Fraction(10) ** exponent, design):
        exponent += 1
        if exponent > _LARGEST:
            return None
    # between one power of ten and the next: the first of 10, 11, ..., 100 tenths that fits
    low, high = 10, 100
    while low < high:
        middle = (low + high) // 2
        if _fits(privacy, middle * Fraction(10) ** (exponent - 2), design):
            high = middle
        else:
            low = middle + 1
    return f"{float(Decimal(high).scaleb(exponent - 2)):g}"


def _fits(privacy: Privacy, amount: Fraction, design: Callable[[Privacy], None]) -> bool:
    try:
        design(_with_amount(privacy, amount))
    except ScaleError:
        return False
    return True


def _amount(privacy: Privacy) -> Fraction:
    return privacy.rho if isinstance(privacy, ZeroConcentratedDP) else privacy.epsilon


def _with_amount(privacy: Privacy, amount: Fraction) -> Privacy:
    if isinstance(privacy, PureDP):
        return PureDP(amount)
    if isinstance(privacy, ZeroConcentratedDP):
        return ZeroConcentratedDP(amount)
    return ApproxDP(amount, privacy.delta)

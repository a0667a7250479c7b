"""Boxplots of one column, of all records or of each group."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np

from ogive.accounting import gaussian_rho, pure_epsilon
from ogive.columns import Binning, LabelValue, Missing
from ogive.columns.grids import Bound, Grid, GridName
from ogive.core.checks import added, among, one_of, truth, whole
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.privacy import Adjacency, ApproxDP, Privacy, PrivacyUnit, PureDP, Rational, ZeroConcentratedDP, exact
from ogive.queries import (
    Answer,
    ClassCurvesQuery,
    GroupBinning,
    QuantileScore,
    Query,
    design_joint,
    design_noisy_max,
    design_sparse_vector,
)
from ogive.queries.selection import MAX_BEYOND, MOST_BINS
from ogive.statistics.base import Statistic, Terms
from ogive.statistics.boxplot.estimate import (
    CONFIDENCE_LEVEL,
    NUMBERS,
    QUARTERS,
    Box,
    Boxplots,
    Interval,
    Intervals,
    box_of,
    inverse,
)
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.readings import lower_ends
from ogive.statistics.ecdf.plan import CURVE_METRICS, CurvePrediction, curve_errors
from ogive.statistics.ecdf.statistic import DEFAULT_BINS, HELP, OWNER_HELP, Ecdf, make_grid
from ogive.statistics.kinds import Command, Picture
from ogive.statistics.methods.base import intervals_of
from ogive.statistics.methods.choose import Method
from ogive.statistics.methods.together import Procedure, Weighted, ask_groups, ask_together, check_served
from ogive.statistics.prediction import UNITS, Errors, Metric, Setting

BoxMethod = Literal["resample", "five_numbers", "joint"]
BOX_METHODS: tuple[BoxMethod, ...] = get_args(BoxMethod)
Quartiles = Literal["together", "single"]
"""How "five_numbers" finds the quartiles: by one selection, or each by its own."""

CurveChoice = Method
DEFAULT_CURVE: CurveChoice = "auto"  # a projection has a bias that shows in no band where the bounds are far too wide
EQUAL_SHARES = (Fraction(1, 5),) * 5
CURVE_SHARE = Fraction(1, 4)
"""Of the guarantee, for the curve beside quartiles that are selected together."""


@dataclass(frozen=True)
class Boxplot:
    """Boxplot of one column, or one for each of several disjoint groups.

    Fields:
        column: Numeric or temporal column.
        bounds: Smallest and largest possible value, public; values outside are clipped.
        by: Column that says which group a record belongs to; without one all records are in one box.
        groups: The values of that column, public: all of them, also those that no record has.
        bins: Number of thresholds.
        grid: "linear", "geometric", "integers", for dates and times "hours", "days", "weeks" or "months", or a `Grid`
            instead of bounds and bins.
        method: "resample" releases a whole curve and reads box, whiskers and outliers off it; "five_numbers" finds the
            two ends and the three quartiles one by one, and shows no outliers; "joint" selects the quartiles together,
            which errs least in ranks, and reads whiskers, outliers and intervals, which are wider, off a curve for a
            quarter of the budget.
        curve: How the curve is released; a method of `Ecdf`. "projection" draws smooth tails; where the bounds are
            several times wider than the records it also widens the box.
        public_groups: Whether everybody may know each record's group; only the value is then hidden, with less noise,
            and the privacy unit must declare the column of groups public. None: whether it does.
        shares: Of the budget, for the lower end, the quartiles and the upper end of "five_numbers"; they add up to 1.
        beyond: How many records may lie beyond each end of "five_numbers".
        missing: What a missing value means: "refuse" (an error), "low" or "high" (the lower or the upper bound), a
            public value within the bounds, as which it counts, or "drop" (not counted; ADD_OR_REMOVE only).
        expected_records: A public guess of the number of all records, where that number is private; see `Ecdf`.
        quartiles: How "five_numbers" finds the quartiles: "together" by one joint selection, which errs about half as
            much and is for up to 65,536 thresholds, or "single" each by a noisy maximum between the two ends.

    Example:
        >>> import numpy as np, ogive
        >>> rng = np.random.default_rng(1)
        >>> weights = {"north": rng.normal(70, 12, 5_000), "south": rng.normal(74, 12, 5_000)}
        >>> boxes = ogive.boxplot(weights, bounds=(30, 150), privacy=ogive.ApproxDP(1, 1e-6))
        >>> bool(abs(boxes["south"].median - 74) < 2), bool(abs(boxes["north"].records - 5000) < 200)
        (True, True)
    """

    name: ClassVar[str] = "boxplot"

    column: str
    bounds: tuple[Bound, Bound] | None = None
    _: KW_ONLY
    by: str | None = None
    groups: tuple[LabelValue, ...] | None = None
    bins: int = DEFAULT_BINS
    grid: Grid | GridName = "linear"
    method: BoxMethod = one_of(*BOX_METHODS)
    curve: CurveChoice = DEFAULT_CURVE
    public_groups: bool | None = None
    shares: tuple[Rational, ...] = EQUAL_SHARES
    beyond: int = 0
    missing: Missing = one_of("refuse", "low", "high", "drop")
    expected_records: int | None = None
    quartiles: Quartiles = added("single", default="together", words=("together", "single"))

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        among(self.method, "method", BOX_METHODS)
        among(self.quartiles, "quartiles", get_args(Quartiles))
        if self.by is None and self.groups is not None:
            raise ParameterError("`groups` needs `by`, the column that says which group a record belongs to")
        if self.by is not None:
            if self.groups is None or isinstance(self.groups, str):
                raise ParameterError(
                    f"say which groups column {quoted(self.by)} has, for example `groups=('a', 'b')`; "
                    "they are public, never read from records"
                )
            object.__setattr__(self, "groups", _values(self.groups))
        if self.public_groups is not None:
            truth(self.public_groups, "public_groups")
        if self.public_groups and self.by is None:
            raise ParameterError("`public_groups` needs `by`, the column that says which group a record belongs to")
        object.__setattr__(self, "shares", _shares(self.shares))
        whole(self.beyond, "beyond", 0, MAX_BEYOND)
        object.__setattr__(self, "missing", self.binning().missing)
        self.grouping()

    def _ecdf(self, records: int | None = None, *, private: bool = True) -> Ecdf:
        """The curve of all records, or of one group, with a public guess of the number of all records.

        Without privacy nothing is gained by an approximate curve, and boxes are those of the records.
        """
        guess = self.expected_records if records is None else records
        if guess is not None and self.groups:
            guess = max(1, guess // len(self.groups))
        return Ecdf(
            self.column,
            self.bounds,
            bins=self.bins,
            grid=self.grid,
            method=self.curve if private else "auto",
            missing=self.missing,
            expected_records=guess,
        )

    def binning(self) -> Binning:
        """How a record becomes the number of a bin."""
        return Binning(self.column, make_grid(self.bounds, self.bins, self.grid), self.missing)

    def grouping(self) -> GroupBinning | None:
        """How a record becomes the number of a bin in one of the groups; None where there are none."""
        binning = self._ecdf().binning()
        return None if self.by is None else GroupBinning(binning, self.by, self.groups or ())

    def canonical(self) -> Boxplot:
        """The one spelling that stands for all of the same question: the grid itself, and no unused parts."""
        grid = self.binning().grid
        five = self.method == "five_numbers"
        return dataclasses.replace(
            self,
            bounds=None,
            bins=grid.bins,
            grid=grid,
            curve=DEFAULT_CURVE if five else self._ecdf().canonical().method,
            expected_records=None if five else self.expected_records,
            shares=self.shares if five else EQUAL_SHARES,
            beyond=self.beyond if five else 0,
            public_groups=bool(self.public_groups),
            quartiles="together" if self._together else "single",
        )

    @property
    def _together(self) -> bool:
        """Whether the quartiles are found by one selection."""
        few = self.binning().grid.bins <= MOST_BINS
        return self.method == "five_numbers" and self.quartiles == "together" and few

    def settled_by(self, unit: PrivacyUnit) -> Boxplot:
        """The same with groups public or not."""
        if self.public_groups is not None:
            return self
        return dataclasses.replace(self, public_groups=self.by in unit.public)

    def alternatives(self) -> dict[str, Boxplot]:
        """Read off an unbiased curve, which makes exact boxes of exact answers, off a projection, and selections."""
        curves = {name: dataclasses.replace(self, method="resample", curve=name) for name in ("tree_ls", "projection")}
        selected: tuple[BoxMethod, ...] = ("five_numbers", "joint")
        result = curves | {name: dataclasses.replace(self, method=name) for name in selected}
        return (
            result if self in result.values() else result | {"resample": dataclasses.replace(self, method="resample")}
        )

    def questions(self, terms: Terms) -> Generator[Query, Answer, Boxplots]:
        """Ask for a curve, or for five numbers, of all records or of every group.

        Privacy: all queries together at most `terms.privacy`; drawing is post-processing.
        """
        grouping, public = self.grouping(), bool(self.public_groups)
        self._check_beyond(terms)
        curves: list[Curve] = []
        boxes: list[Box]
        labels: tuple[LabelValue | None, ...] = (None,) if grouping is None else grouping.groups
        if self.method != "five_numbers":
            ecdf = self._ecdf(None if grouping is None else terms.records, private=terms.private)

            def ask(shared: Terms) -> Procedure[tuple[Curve, list[int] | None]]:
                if self.method == "joint":
                    return _beside(ecdf, shared)
                return _alone(ecdf, shared)

            if grouping is None:
                read = [(yield from ask(terms))]
            else:
                read = yield from ask_groups(grouping, ask, terms, public_groups=public)
            curves = [dataclasses.replace(curve, adjacency=terms.adjacency) for curve, _ in read]
            boxes = [
                _with_intervals(_box(curve, label, places), curve, terms)
                for curve, label, (_, places) in zip(curves, labels, read, strict=True)
            ]
        elif grouping is None:
            boxes = [(yield from self._five(terms))]
        else:
            result = yield from ask_groups(grouping, self._five, terms, public_groups=public)
            boxes = [dataclasses.replace(box, group=label) for box, label in zip(result, labels, strict=True)]
        return Boxplots(
            column=self.column,
            by=self.by,
            grid=self.binning().grid,
            method=self.method,
            boxes=tuple(boxes),
            curves=tuple(curves),
            adjacency=terms.adjacency,
            # where records come and go, their group does, too, and noise hides both
            public_groups=grouping is not None and public and terms.adjacency is Adjacency.REPLACE,
        )

    def _check_beyond(self, terms: Terms) -> None:
        """Refuse ends between which there would be nobody, where that is known."""
        if self.method != "five_numbers" or not self.beyond or terms.records is None:
            return
        if 2 * self.beyond >= terms.records:
            raise ParameterError(f"`beyond` must be less than half of the {terms.records} records, got {self.beyond}")

    def _five(self, terms: Terms) -> Generator[Query, Answer, Box]:
        shares = [exact(share, "a share") for share in self.shares]
        return _five_numbers(self.binning(), terms, shares=shares, beyond=self.beyond, together=self._together)


def _values(given: Any) -> tuple[LabelValue, ...]:
    """Groups as a tuple of Python's own values."""
    if not isinstance(given, tuple | list | np.ndarray):
        raise ParameterError(
            f"`groups` must be a list of the values of a column, for example ('a', 'b'), got {quoted(given)}"
        )
    return tuple(value.item() if isinstance(value, np.generic) else value for value in given)


def _shares(given: Any) -> tuple[Fraction, ...]:
    """Five parts of the budget that add up to all of it."""
    try:
        shares = tuple(exact(share, "each of the shares") for share in given)
    except TypeError:
        raise ParameterError(f"`shares` must be five numbers that add up to 1, got {quoted(given)}") from None
    if len(shares) != len(NUMBERS) or min(shares) <= 0 or sum(shares) != 1:
        written = ", ".join(str(share) for share in given)
        raise ParameterError(f"`shares` must be five numbers above 0 that add up to 1, got {written}")
    return shares


# --- Five numbers, found one by one


def _middle(grid: Grid, place: int) -> float:
    """The middle of a bin, where the median of its records is if they lie evenly; as a number of the grid."""
    low, high = float(lower_ends(grid)[place]), float(grid.thresholds[place])
    number = (low + high) / 2
    return number if grid.unit == "number" else min(math.ceil(number), math.floor(high))


def selection_grants(privacy: Privacy, shares: Sequence[Fraction]) -> tuple[tuple[PureDP, ...], bool]:
    """The epsilon of each of several selections that together keep a guarantee, and whether they are priced in zCDP.

    Epsilons add up; in zCDP halves of their squares do, which allows more where the guarantee is in zCDP, and
    where delta is large.
    """
    if isinstance(privacy, PureDP):
        return tuple(PureDP(privacy.epsilon * share) for share in shares), False
    rho = gaussian_rho(privacy) if isinstance(privacy, ApproxDP) else privacy
    squares = tuple(pure_epsilon(ZeroConcentratedDP(rho.rho * share)) for share in shares)
    if isinstance(privacy, ApproxDP):
        plain = tuple(PureDP(privacy.epsilon * share) for share in shares)
        if min(grant.epsilon for grant in plain) >= min(grant.epsilon for grant in squares):
            return plain, False
    return squares, True


def _alone(ecdf: Ecdf, terms: Terms) -> Procedure[tuple[Curve, list[int] | None]]:
    """A curve of which everything is read."""
    return (yield from ecdf.questions(terms)), None


def _beside(ecdf: Ecdf, terms: Terms) -> Procedure[tuple[Curve, list[int] | None]]:
    """A curve, and the bins of the quartiles, which are selected together before, within `terms.privacy`."""

    def quartiles(shared: Terms) -> Procedure[list[int]]:
        answer = yield design_joint(ecdf.binning(), QUARTERS, privacy=shared.privacy, unit=shared.unit)
        return sorted(map(int, answer.values))

    reason = terms.refusal(next(quartiles(dataclasses.replace(terms, privacy=PureDP(1)))))
    if reason is not None:
        raise UnsupportedError(reason)
    procedures: list[Weighted[Any]] = [Weighted(1 - CURVE_SHARE, quartiles), Weighted(CURVE_SHARE, ecdf.questions)]
    tried = dataclasses.replace(terms, simulations=0)
    check_served(ask_together(procedures, tried), tried)
    places, curve = yield from ask_together(procedures, terms)
    return curve, places


def _box(curve: Curve, group: LabelValue | None, places: list[int] | None) -> Box:
    """The box of a curve, with its own quartiles or those of some bins, within which the curve says where."""
    if places is None:
        return box_of(curve, group)
    grid = curve.grid
    low, high = lower_ends(grid)[places], grid.thresholds[places]
    if grid.unit != "number":
        low, high = np.minimum(np.floor(low) + (low < high), np.floor(high)), np.floor(high)
    within = np.clip(inverse(grid, curve.probabilities, np.array(QUARTERS)), low, high)
    return box_of(curve, group, tuple(within.tolist()), flat=places[0] == places[2])


def _five_numbers(
    binning: Binning,
    terms: Terms,
    *,
    shares: Sequence[Fraction],
    beyond: int,
    together: bool,
) -> Generator[Query, Answer, Box]:
    """Find both ends, each by a selection of its own, and then the quartiles between them, within `terms.privacy`."""
    grants, concentrated = selection_grants(terms.privacy, shares)
    ends = []
    for side, grant in (("low", grants[0]), ("high", grants[4])):
        answer = yield design_sparse_vector(
            binning, side, privacy=grant, unit=terms.unit, beyond=beyond, concentrated=concentrated
        )
        ends.append(int(answer.values[0]))
    first, last = min(ends), max(ends)
    results = []
    if together:
        quarters = [Fraction(quarter, 4) for quarter in (1, 2, 3)]
        whole: PureDP | ZeroConcentratedDP
        if concentrated:
            whole = ZeroConcentratedDP(sum((grant.epsilon**2 / 2 for grant in grants[1:4]), Fraction(0)))
        else:
            whole = PureDP(sum((grant.epsilon for grant in grants[1:4]), Fraction(0)))
        answer = yield design_joint(binning, quarters, privacy=whole, unit=terms.unit)
        results = np.clip(answer.values, first, last).tolist()
    else:
        for quarter, grant in zip((1, 2, 3), grants[1:4], strict=True):
            score = QuantileScore(Fraction(quarter, 4), first=first, last=last)
            answer = yield design_noisy_max(binning, score, privacy=grant, unit=terms.unit, concentrated=concentrated)
            results.append(first + int(answer.values[0]))
    q1, median, q3 = (_middle(binning.grid, place) for place in sorted(results))
    return Box(
        None,
        float(lower_ends(binning.grid)[first]),
        q1,
        median,
        q3,
        float(binning.grid.thresholds[last]),
        records=None if answer.total is None else float(answer.total),
        flat=min(results) == max(results),
    )


# --- Intervals of a box, which are those of three quantiles of its curve and hold at once
#
# An end is moved to the box's own number where that lies outside, which only widens the interval. Proof:
# `docs/proofs/boxes.md`.


def _with_intervals(box: Box, curve: Curve, terms: Terms) -> Box:
    """The box of a curve with its intervals; as it is where there is no box, or no interval is wanted."""
    if not box.defined or terms.simulations == 0:
        return box
    held = intervals_of(curve, QUARTERS, CONFIDENCE_LEVEL, terms)
    numbers = (box.q1, box.median, box.q3)
    ends = [Interval(min(low, at), max(high, at)) for (low, high), at in zip(held, numbers, strict=True)]
    return dataclasses.replace(box, intervals=Intervals(*ends))


# --- How it is planned


class BoxplotPrediction(CurvePrediction):
    """Errors of a box's numbers by simulation, and of the curve where there is one."""

    metrics: ClassVar[Mapping[str, Metric]] = CURVE_METRICS | {
        name: Metric(
            heading, f"distance of the released {words} from the exact one, on average, {UNITS}", of_range=True
        )
        for name, heading, words in (
            ("low", "low end", "low end"),
            ("q1", "Q1", "first quartile"),
            ("median", "median", "median"),
            ("q3", "Q3", "third quartile"),
            ("high", "high end", "high end"),
        )
    }
    shown = ("q1", "median", "q3")

    def __init__(self, statistic: Statistic[Boxplots], terms: Terms, setting: Setting) -> None:
        # no error depends on the intervals
        super().__init__(statistic, dataclasses.replace(terms, simulations=0), setting)

    def errors(self) -> Errors:
        """Errors of the curve, or of the curves of several groups, which are measured as classes are."""
        last = self.queries[-1]
        if isinstance(last, ClassCurvesQuery):
            from ogive.statistics.roc.designs import class_errors

            return class_errors(last, "joint", self.setting)
        statistic = cast(Boxplot, self.statistic)
        if statistic.method != "resample":
            return Errors({})
        return curve_errors(statistic._ecdf(), self.rehearsal, self.setting)


# --- For the command line


def _check(given: Mapping[str, Any], trust: str) -> None:
    """Refuse options of the method that is not taken; a plan, which compares both methods, takes all."""
    five = given.get("method") == "five_numbers"
    for name, usual, of_five in (
        ("shares", None, True),
        ("beyond", 0, True),
        ("quartiles", "together", True),
        ("curve", "auto", False),
    ):
        if given.get(name, usual) != usual and of_five is not five:
            owner = "five_numbers" if of_five else "resample or joint"
            raise ParameterError(f"--{name} belongs to --method {owner}; leave it out, or use that method")


def _check_violins(given: Mapping[str, Any]) -> None:
    if given.get("method") == "five_numbers":
        raise ParameterError("--violins needs a whole curve, which --method resample releases")


COMMAND = Command(
    names={"groups": "by-groups"},
    help=HELP
    | {
        "method": "resample: box, whiskers and outliers of one private curve. five_numbers: both ends and the three "
        "quartiles; no outliers. joint: quartiles that are selected together, and a curve for the rest.",
        "curve": "How resample and joint release the curve; a method of ogive ecdf.",
        "groups": "All values of that column, public; also those that no record has.",
        "public_groups": (
            "Each record's group is public knowledge: only the value is hidden, with less noise. The default if "
            "--public declares the column."
        ),
        "shares": (
            "Shares of the budget of five_numbers for the lower end, the three quartiles and the upper end; a fifth "
            "each by default."
        ),
    },
    groups=dict.fromkeys(
        ("by", "groups", "public_groups", "method", "curve", "shares", "beyond", "quartiles"), "Boxes"
    ),
    check=_check,
    picture=Picture(
        "violins",
        "Draw violins with --plot; their width is the slope of the released curves.",
        {"kind": "violin"},
        _check_violins,
    ),
    owner_help={
        "missing": OWNER_HELP["missing"],
        "public_groups": "Required with --by: owners send their group unprotected, and only the value is hidden.",
        "method": "Boxes are computed from curves, the only thing that owners can report.",
        "curve": "What owners report of the curve, as for ecdf.",
    },
    owners={
        "missing": ("refuse", "low", "high"),
        "method": ("resample",),
        "curve": ("auto", "reports", "histogram"),
        "shares": (),
        "beyond": (),
        "expected_records": (),
    },
)

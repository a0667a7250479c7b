"""Predict price and errors of every method, spending nothing and reading no records."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.errors import BudgetError, OgiveError, ParameterError, ScaleError, UnsupportedError, quoted
from ogive.noise import DiscreteLaplace, Geometric
from ogive.planning.ballots import AgreeingTeachers
from ogive.planning.curves import FEWEST, curve_errors, strategy_errors
from ogive.planning.labeled import class_errors, group_errors
from ogive.planning.magnitudes import bounds_errors
from ogive.planning.metrics import ROOT_MEAN_SQUARED, Errors
from ogive.planning.pairs import ROUNDED_WORDS, SHAPE_WORDS, pairs_row
from ogive.planning.rehearsal import Rehearsal, Sums, rehearse
from ogive.planning.rounds import rehearsed_errors
from ogive.planning.rows import LeftOut, Plan, PlanRow
from ogive.planning.shapes import BinormalShape, Repeated, Shape
from ogive.privacy import Adjacency, Privacy, PrivacyUnit, PureDP, check_adjacency, check_columns, check_privacy
from ogive.queries import (
    Aggregate,
    ClassCurvesQuery,
    CurveQuery,
    GroupSumsQuery,
    Int64,
    LinearQuery,
    Query,
    ReportsQuery,
    undeclared,
)
from ogive.queries.selection import NoisyMaxQuery
from ogive.queries.threshold import ThresholdQuery
from ogive.statistics.base import Estimate, Statistic, Terms, describe, settled
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.statistics.labels.statistic import Labels
from ogive.statistics.methods.base import CurveTask
from ogive.statistics.methods.choose import Method, as_method, predicted_errors
from ogive.statistics.methods.expected_error import typical
from ogive.statistics.methods.reference_shapes import EVERY, REFERENCES
from ogive.statistics.methods.reports import Reports, owners_answer
from ogive.statistics.quantiles.statistic import Quantiles
from ogive.statistics.ustatistic.methods import pairs_answer
from ogive.statistics.ustatistic.statistic import Ustatistic
from ogive.strategies import ReportedHistogram, ReportedTree
from ogive.strategies.base import approximates
from ogive.trust import Central, Simulation, TrustModel, TrustOf
from ogive.trust.base import TrustOptions
from ogive.trust.clear import ClearOptions

LADDER = tuple(PureDP(epsilon) for epsilon in ("0.1", "0.2", "0.5", "1", "2", "5"))
"""Guarantees that are planned for where none is named."""

REFERENCE_WORDS = (
    "projection, histogram, adaptive and selected measure less than every threshold, so their errors depend on the "
    f"data: a..b is the smallest and the largest over {len(EVERY.names)} public reference shapes, from smooth ones to "
    "all records on one value, with the bias counted; energy is simulated for every method on "
    f"{len(REFERENCES)} of them ({', '.join(REFERENCES)}); "
    "auto takes such a method only where it is on no shape more than 1.5 times as far off in ks as the best of the "
    "others"
)

SHORT_LADDER = tuple(PureDP(epsilon) for epsilon in ("0.2", "1", "5"))
"""The same where every row takes simulated releases."""

DEFAULT_RUNS, SLOW_RUNS = 200, 40  # the latter where every release simulates a test's reference of its own
MAX_RECORDS = 1 << 40

Float64 = NDArray[np.float64]
Progress = Callable[[int, int], None]
Planned = TrustOf | TrustModel
"""Who would hold the records: a model that has them, or how one would be made."""


def plan(
    statistic: Statistic[Any],
    *,
    privacy: Privacy | Sequence[Privacy] | None = None,
    records: int,
    adjacency: Adjacency = Adjacency.REPLACE,
    person: str | None = None,
    max_rows_per_person: int = 1,
    trust: Planned | Sequence[Planned] = Central,
    public: Sequence[str] | str = (),
    like: Any = None,
    positive_share: float | None = None,
    auc: float | None = None,
    runs: int | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Predict what every method would cost and how far off it would be, before anything is spent.

    Errors of distribution functions before smoothing are the same for all data. Errors after smoothing, and those
    of ROC curves and calibration tests, depend on the data: they are simulated on `like`, or on a model
    that the plan states.

    Args:
        statistic: What would be released, for example `Ecdf("age", bounds=(0, 120))`.
        privacy: A guarantee, or several to compare; by default six pure epsilons from 0.1 to 5, or three from 0.2
            to 5 where every row takes simulated releases.
        records: Number of records; where the adjacency keeps it private, your own guess.
        adjacency: Which data sets would be adjacent.
        person: Column that says whose record it is, as for `Central`.
        max_rows_per_person: How many of a person's records would be kept.
        trust: Who would hold the records: a trust model, its type or name, or a `Simulation`; or several of them to
            compare.
        public: Columns that everybody may know, as for `release`.
        like: Public or synthetic records with the columns that are needed, in any form that `Central` reads, to
            simulate whole releases on. Never the records that are to be protected.
        positive_share: Of the model that stands in for labeled records where `like` is not given; 0.3 by default.
            Statistics of pairs have public reference shapes instead.
        auc: Of that model's scores; 0.8 by default.
        runs: Whole releases to simulate for each row where that is needed; by default 200, or 40 of
            a calibration test.
        progress: Called with rows done and to do.

    Raises:
        ParameterError: an argument is out of range, or no method can serve the statistic.
        DataError: `like` cannot be read.

    Privacy:
        Reads no private records; costs nothing. Which plan you act on may, if you chose `like` or `records` by
        looking at private data.
    """
    trusts = tuple(trust) if isinstance(trust, list | tuple) else (trust,)
    if not trusts:
        raise ParameterError("name at least one trust model, for example trust=[Central, Local]")
    planners = [
        Planner.of(
            statistic,
            records,
            adjacency,
            person,
            max_rows_per_person,
            each,
            like,
            positive_share,
            auc,
            runs,
            public=public,
        )
        for each in trusts
    ]
    ways = planners[0].statistic.alternatives()
    grants = planners[0].ladder(ways) if privacy is None else _grants(privacy)
    several = len(planners) > 1
    rows: list[PlanRow] = []
    left_out: list[LeftOut] = []
    first: OgiveError | None = None
    tried = [(grant, planner, *each) for grant in grants for planner in planners for each in ways.items()]
    for number, (grant, planner, name, way) in enumerate(tried):
        place = planner.model.name if several else None
        try:
            rows += (dataclasses.replace(row, trust=place) for row in planner.rows(name, way, grant))
        except (ParameterError, UnsupportedError, BudgetError) as problem:
            first = first or problem
            left_out.append(LeftOut(name, grant, str(problem), place))
        if progress is not None:
            progress(number + 1, len(tried))
    if not rows:
        assert first is not None, "a statistic has at least one alternative"
        raise planners[0].reason(grants[0]) or first
    return Plan(
        statistic=describe(planners[0].statistic),
        records=records,
        unit=planners[0].unit,
        trust=", ".join(dict.fromkeys(planner.model.name for planner in planners)),
        rows=tuple(rows),
        left_out=tuple(left_out),
        basis="\n".join(dict.fromkeys(line for planner in planners for line in planner.basis.split("\n") if line)),
        runs=max(planner.simulated for planner in planners),
    )


@dataclass
class Planner:
    """Predicts one row at a time, for one statistic and one number of records."""

    statistic: Statistic[Any]
    records: int
    unit: PrivacyUnit
    model: TrustOptions
    shape: Shape
    given: bool
    runs: int | None
    simulated: int = 0
    referred: bool = False
    paired: bool = False
    taken: dict[Privacy, tuple[Query, ...]] = field(default_factory=dict)

    @staticmethod
    def of(
        statistic: Statistic[Any],
        records: int,
        adjacency: Adjacency,
        person: str | None,
        max_rows_per_person: int,
        trust: Planned,
        like: Any,
        positive_share: float | None,
        auc: float | None,
        runs: int | None,
        *,
        public: Sequence[str] | str = (),
    ) -> Planner:
        """Check what was asked.

        Raises:
            ParameterError, DataError: an argument is out of range, or `like` cannot be read.
        """
        if isinstance(records, bool) or not isinstance(records, int | np.integer) or not 1 <= records <= MAX_RECORDS:
            raise ParameterError(f"records must be a whole number from 1 to {MAX_RECORDS}, got {quoted(records)}")
        if runs is not None and (isinstance(runs, bool) or not isinstance(runs, int) or runs < 2):
            raise ParameterError(f"runs must be a whole number of at least 2, got {quoted(runs)}")
        if not hasattr(statistic, "questions") or isinstance(statistic, type):
            raise ParameterError(f"statistic must be one such as Ecdf(...), got {quoted(statistic)}")
        unit, model = _trusted(trust, check_adjacency(adjacency), person, max_rows_per_person)
        unit = dataclasses.replace(unit, public=check_columns(public))
        if not model.private:
            raise ParameterError(f"the trust model {model.name} has no noise, so there is nothing to plan")
        size = int(records)
        said = {name: value for name, value in (("positive_share", positive_share), ("auc", auc)) if value is not None}
        _check_assumed(said, statistic, given=like is not None)
        voted = isinstance(statistic, Labels)
        binormal = BinormalShape(size, **said, labeled=hasattr(statistic, "positive"))
        assumed: Shape = AgreeingTeachers(size) if voted else binormal
        shape: Shape = assumed if like is None else Repeated(like, size)
        return Planner(settled(statistic, unit), size, unit, model, shape, like is not None, runs)

    @property
    def basis(self) -> str:
        """What the errors rest on."""
        parts = [REFERENCE_WORDS] if self.referred else []
        if self.paired:
            parts.append(SHAPE_WORDS)
            if "curator" not in self.model.serves and "linear" in self.model.serves:
                parts.append(ROUNDED_WORDS)
        if self.simulated:
            parts.append(f"simulated, {self.simulated} releases a row, on {self.shape.words}")
        return "\n".join(parts)

    def terms(self, privacy: Privacy) -> Terms:
        """What a release under that guarantee may spend and ask; intervals are not shown, so few simulations do."""
        return Terms(
            privacy,
            self.unit,
            self.model.refusal,
            simulations=FEWEST,
            count=lambda: self.records,
            adding=self.model.adding,
            honest=self.model.honest,
            cell_limit=self.model.cell_limit,
        )

    def ladder(self, ways: Mapping[str, Statistic[Any]]) -> tuple[Privacy, ...]:
        """Guarantees to compare where none is named: fewer where that takes simulated releases."""
        if isinstance(self.statistic, Ustatistic):
            return SHORT_LADDER if self.given else LADDER
        for way in ways.values():
            try:
                done = rehearse(_measured(way), self.terms(LADDER[-1]), self.shape.sums, run=0)
            except (ParameterError, UnsupportedError, BudgetError):
                continue
            return SHORT_LADDER if self.given or not _decided(done) else LADDER
        return LADDER

    def row(self, name: str, way: Statistic[Any], privacy: Privacy) -> PlanRow:
        """The first of `rows`, which is the one that would be taken."""
        return self.rows(name, way, privacy)[0]

    def rows(self, name: str, way: Statistic[Any], privacy: Privacy) -> list[PlanRow]:
        """Price and errors of one way under one guarantee, and what it takes of parties and servers: a row for each
        kind of upload that fits, the one that would be taken first.

        Raises:
            ParameterError, UnsupportedError, BudgetError: it does not fit.
        """
        row, asked = self._priced(name, way, privacy)
        linear = [query for query in asked if isinstance(query, LinearQuery)]
        ways = self.model.traffic(linear, records=self.records, adjacency=self.unit.adjacency)
        if not ways:
            return [row]
        chosen = [row.chosen, *([False] * (len(ways) - 1))]
        return [dataclasses.replace(row, traffic=each, chosen=taken) for each, taken in zip(ways, chosen, strict=True)]

    def _priced(self, name: str, way: Statistic[Any], privacy: Privacy) -> tuple[PlanRow, tuple[Query, ...]]:
        """Price and errors, and all that is asked."""
        terms = self.terms(privacy)
        if isinstance(way, Ustatistic):
            query, price, words, errors = pairs_row(way, terms, self.records)
            self.check(query)
            if self.given:
                errors = self._simulate(way.settled(terms), terms, self.runs or DEFAULT_RUNS)
            self.paired = not self.given
            taken = (query,) == self._taken(privacy)
            return PlanRow(name, privacy, price, words, errors, taken and self._asked_for(way)), (query,)
        done = rehearse(_measured(way), terms, self.shape.sums, run=0)
        self.check(*done.asked)
        errors = self.errors(way, terms, done)
        noise = _noise(done, errors, self.records, known=self.unit.adjacency is Adjacency.REPLACE)
        taken = done.queries == self._taken(privacy)
        row = PlanRow(name, privacy, done.price, noise, errors, taken, spans=errors.spans)
        return row, done.asked

    def check(self, *queries: Query) -> None:
        """Refuse what a release would refuse since it says more than the unit hides.

        Raises:
            UnsupportedError: a query does.
        """
        for query in queries:
            reason = undeclared(query, self.unit)
            if reason is not None:
                raise UnsupportedError(reason)

    def reason(self, privacy: Privacy) -> OgiveError | None:
        """Why a release of the statistic as it was written would be refused; None if it would not be."""
        try:
            self._priced("", self.statistic, privacy)
        except (ParameterError, UnsupportedError, BudgetError) as problem:
            return problem
        return None

    def _taken(self, privacy: Privacy) -> tuple[Query, ...]:
        """What the statistic as it was written asks; nothing where it does not fit."""
        if privacy not in self.taken:
            try:
                if isinstance(self.statistic, Ustatistic):
                    self.taken[privacy] = (self.statistic.chosen_method(self.terms(privacy)).query,)
                    return self.taken[privacy]
                statistic = _measured(self.statistic)
                self.taken[privacy] = rehearse(statistic, self.terms(privacy), self.shape.sums, run=0).queries
            except (ParameterError, UnsupportedError, BudgetError):
                self.taken[privacy] = ()
        return self.taken[privacy]

    def _asked_for(self, way: Ustatistic) -> bool:
        """Whether it is read as was asked; two methods with options may have one query."""
        assert isinstance(self.statistic, Ustatistic)
        return isinstance(self.statistic.method, str) or way.method == self.statistic.method

    def errors(self, way: Statistic[Any], terms: Terms, done: Rehearsal) -> Errors:
        """All errors that can be predicted, by name: those that hold for all data or for public shapes, then others."""
        errors = self.for_all_data(way, done)
        if _decided(done) and not self.given:
            return errors
        slow = isinstance(done.queries[-1], GroupSumsQuery)
        runs = self.runs or (SLOW_RUNS if slow else DEFAULT_RUNS)
        for name, value in self._simulate(way, terms, runs).items():
            errors[f"{name}_smoothed" if name in errors else name] = value
        return errors

    def for_all_data(self, way: Statistic[Any], done: Rehearsal) -> Errors:
        """Errors that do not depend on the data, and those on public shapes of methods whose errors do."""
        if isinstance(way, Ecdf) or (isinstance(way, Quantiles) and way.method != "bisection"):
            return self._of_curve(way, done)
        return Errors(self._without_shapes(way, done))

    def _without_shapes(self, way: Statistic[Any], done: Rehearsal) -> dict[str, float]:
        last = done.queries[-1]
        if isinstance(way, Ustatistic):
            return {} if self.given else {"value": math.sqrt(way.chosen_method(done.terms).predicted)}
        if isinstance(done.estimate, BoundsEstimate):
            return bounds_errors(done.estimate, self.records)
        if isinstance(last, GroupSumsQuery):
            return group_errors(way, last, self.records)
        if isinstance(last, ClassCurvesQuery):
            return class_errors(way, last, self.unit, self.records)
        if isinstance(last, CurveQuery) and len(done.queries) == 1:
            return curve_errors(last, self.unit.adjacency, self.records)
        return {}

    def _of_curve(self, way: Ecdf | Quantiles, done: Rehearsal) -> Errors:
        """Errors of a curve, or of the curve that quantiles are read off, with its energy distance."""
        last = done.queries[-1]
        if isinstance(way, Quantiles):
            way = way.ecdf()
        if isinstance(done.estimate, Curve) and isinstance(done.estimate.strategy, ReportedHistogram | ReportedTree):
            strategy = done.estimate.strategy
            errors = strategy_errors(strategy, self.unit.adjacency, self.records, known=True)
            method: Method = Reports.name if as_method(way.method) == "auto" else way.method
        elif isinstance(last, CurveQuery) and len(done.queries) == 1:
            errors = curve_errors(last, self.unit.adjacency, self.records)
            method = last.strategy if as_method(way.method) == "auto" else way.method
        else:
            errors = rehearsed_errors(way, done.terms, self.records)
            method = way.method
        task = CurveTask(way.binning(), done.terms, way.smooth, way.expected_records or self.records)
        try:
            energies = predicted_errors(method, task).energy
        except (ParameterError, ScaleError, UnsupportedError):
            return errors
        errors["energy"] = typical(energies)
        errors.spans["energy"] = (min(energies), max(energies))
        self.referred = True
        return errors

    def _simulate(self, way: Statistic[Any], terms: Terms, runs: int) -> dict[str, float]:
        """Whole releases of imagined records, against the exact answer for them."""
        self.simulated = runs
        if isinstance(way, Quantiles):
            terms = dataclasses.replace(terms, simulations=0)
        known: dict[Aggregate, Int64] = {}

        def sums(aggregate: Aggregate) -> Int64:
            if aggregate not in known:
                known[aggregate] = self.shape.sums(aggregate)
            return known[aggregate]

        truth = self._truth(terms, sums)
        found = [rehearse(way, terms, sums, run=run + 1).estimate.errors(truth) for run in range(runs)]
        values = {name: np.array([errors[name] for errors in found]) for name in found[0]}
        lost = np.any([~np.isfinite(each) for each in values.values()], axis=0).mean()
        errors = {name: _summed_up(name, each) for name, each in values.items() if np.isfinite(each).any()}
        return {**errors, "undefined": float(lost)} if lost else errors

    def _truth(self, terms: Terms, sums: Sums) -> Estimate:
        """The exact answer, by the first way that fits; some ways find less of it than others.

        Records are imagined, so where nobody sees records somebody here does.
        """
        if owners_answer(terms) or pairs_answer(terms):
            terms = dataclasses.replace(terms, refusal=ClearOptions().refusal)
        for way in self.statistic.alternatives().values():
            try:
                return rehearse(way, terms, sums, run=None).estimate
            except (ParameterError, UnsupportedError, BudgetError):
                continue
        return rehearse(self.statistic, terms, sums, run=None).estimate


def _check_assumed(said: Mapping[str, float], statistic: Statistic[Any], *, given: bool) -> None:
    """Refuse to shape an assumed model that no error would be simulated on.

    Raises:
        ParameterError: records were given, or errors are those on reference shapes.
    """
    for name, value in said.items():
        if given:
            raise ParameterError(
                f"errors are simulated on like; leave out {name}={value:g}, which is of an assumed model"
            )
        if isinstance(statistic, Labels):
            raise ParameterError(f"votes have no scores; leave out {name}={value:g}, or give votes with like=")
        if isinstance(statistic, Ustatistic):
            raise ParameterError(
                "errors of statistics of pairs are those on public reference shapes; "
                f"leave out {name}={value:g}, or give like= for a shape of your own"
            )


def _measured(way: Statistic[Any]) -> Statistic[Any]:
    """What is asked of the records: of quantiles the curve, whose intervals need not be simulated to know that."""
    return way.ecdf() if isinstance(way, Quantiles) and way.method != "bisection" else way


def _decided(done: Rehearsal) -> bool:
    """Whether errors that do not depend on the data are what one decides by."""
    last = done.queries[-1]
    if isinstance(last, GroupSumsQuery | ThresholdQuery):
        return True
    if isinstance(done.estimate, Curve) and isinstance(last, ReportsQuery):
        return True
    selected = isinstance(done.queries[0], NoisyMaxQuery)
    return isinstance(last, CurveQuery) and (selected or len(done.queries) == 1)


def _summed_up(name: str, values: Float64) -> float:
    """Root mean square or mean of the runs in which there was an error to see."""
    finite = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(finite**2)) if name in ROOT_MEAN_SQUARED else np.mean(np.abs(finite)))


def _noise(done: Rehearsal, errors: Mapping[str, float], records: int, *, known: bool) -> str:
    """Kind and size of the noise in words; without the bias that an error may count besides."""
    deviation = _deviation(done, errors, records, known=known)
    size = "" if deviation is None else f", +/- {deviation:.3g} records"
    if isinstance(done.queries[-1], ReportsQuery):
        return f"{records} randomized reports{size}"
    levels = [level for query in done.queries for level in query.levels]
    named: dict[type, str] = {DiscreteLaplace: "Laplace", Geometric: "one-sided"}
    kinds = {named.get(type(level.law), "Gaussian") for level in levels}
    nodes = sum(level.nodes for level in levels)
    return f"{' and '.join(sorted(kinds))} on {nodes} sums{size}"


def _deviation(done: Rehearsal, errors: Mapping[str, float], records: int, *, known: bool) -> float | None:
    """Standard deviation of the noise of cumulative counts before smoothing, as a root mean square."""
    last = done.queries[-1]
    if isinstance(last, ThresholdQuery):
        return math.sqrt(float(last.law.variance)) / float(2**last.bits)
    selected = isinstance(done.queries[0], NoisyMaxQuery)
    if isinstance(last, CurveQuery) and (selected or approximates(last.strategy)):
        return math.sqrt(float(np.mean(last.strategy.variance(total_known=known))))
    return errors["rmse"] * records if "rmse" in errors else None


def _grants(privacy: Privacy | Sequence[Privacy]) -> tuple[Privacy, ...]:
    if isinstance(privacy, list | tuple):
        if not privacy:
            raise ParameterError("name at least one guarantee, for example privacy=[PureDP(1)]")
        return tuple(dict.fromkeys(check_privacy(each) for each in privacy))
    return (check_privacy(privacy),)


def _trusted(trust: Planned, adjacency: Adjacency, person: str | None, rows: int) -> tuple[PrivacyUnit, TrustOptions]:
    """The privacy unit, and what is known of the trust model without any records."""
    if isinstance(trust, type | Simulation | str):
        return PrivacyUnit(adjacency, person, rows), Simulation.of(trust).options
    if not isinstance(trust, TrustModel):
        raise ParameterError(f"trust must be a trust model such as Central, got {quoted(trust)}")
    return PrivacyUnit(adjacency, person, rows) if person is not None else trust.unit(adjacency), trust.options

"""Predict price and errors of every method, spending nothing and reading no records.

Nothing here is a release: sums are public or imagined, and noise comes from public seeds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ogive.accounting import total_loss
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import Progress, among, any_whole, whole
from ogive.errors import BudgetError, Marked, OgiveError, ParameterError, ScaleError, UnsupportedError, quoted
from ogive.privacy import (
    Adjacency,
    ApproxDP,
    Privacy,
    PrivacyUnit,
    PureDP,
    Rational,
    ZeroConcentratedDP,
    check_adjacency,
    check_columns,
    check_privacy,
)
from ogive.queries import Aggregate, Answer, LabelsQuery, LinearQuery, Query, undeclared
from ogive.records.imagined import Repeated, Shape
from ogive.releasing.planning.rows import LeftOut, Metrics, Plan, PlanRow, among_errors, listed, metrics_of, named
from ogive.releasing.release import drive
from ogive.statistics import base
from ogive.statistics.kinds import prediction_of
from ogive.statistics.prediction import FEWEST_CURVES, Errors, Prediction, Rehearsal, Setting, Sums
from ogive.trust import Central, Simulation, TrustModel, TrustOf
from ogive.trust.base import TrustOptions
from ogive.trust.imagined import Imagined
from ogive.trust.models import ClearOptions

LADDER = tuple(PureDP(epsilon) for epsilon in ("0.1", "0.2", "0.5", "1", "2", "5"))
"""Guarantees that are planned for where none is named."""

SHORT_LADDER = tuple(PureDP(epsilon) for epsilon in ("0.2", "1", "5"))
"""The same where every row takes simulated releases."""

MAX_RECORDS = 1 << 40
DOES_NOT_FIT = (ParameterError, UnsupportedError, BudgetError)

Planned = TrustOf | TrustModel
"""Who would hold the records: a model that has them, or how one would be made."""


def plan(
    statistic: base.Statistic[Any],
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
    """Predict price and error of every method before anything is spent.

    Errors of distribution functions are simulated on public shapes, and a plan has the smallest and the largest beside
    the typical one. Errors of ROC curves and calibration tests are simulated on `like`, or on a model that the plan
    states.

    Args:
        statistic: The statistic to plan, for example `Ecdf("age", bounds=(0, 120))`.
        privacy: A guarantee, or several to compare; by default six values of pure epsilon from 0.1 to 5, or three from
            0.2 to 5 if every row requires simulated releases.
        records: Number of records; your own guess if the adjacency keeps it private.
        adjacency: Which data sets would be adjacent.
        person: Column with the person's identifier, as for `Central`.
        max_rows_per_person: How many of a person's records would be kept.
        trust: Trust model: an instance, its type or name, or a `Simulation`; or several of them to compare. Of an
            instance's records only what columns hold is read, where a statistic leaves that to the table.
        public: Public columns, as for `release`.
        like: Public or synthetic records with the required columns, in any form that `Central` reads, on which whole
            releases are simulated. Never use the records to be protected.
        positive_share: Share of positive records in the model that replaces `like`; 0.3 by default. Statistics of
            pairs use public reference shapes instead.
        auc: AUC of the scores of that model; 0.8 by default.
        runs: Number of releases to simulate for each row, if needed; by default 200, or 40 for a calibration test.
        progress: Called with the rows done and the rows in all.

    Raises:
        ParameterError: an argument is out of range, or no method is suitable.
        DataError: `like` cannot be read.

    Privacy:
        Reads no private records and costs nothing. If you choose `like` or `records` from private data, your choice of
        a plan may reveal something about them.
    """
    trusts = tuple(trust) if isinstance(trust, list | tuple) else (trust,)
    if not trusts:
        raise ParameterError("name at least one trust model, for example `trust=[Central, Local]`")
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
    methods = planners[0].statistic.alternatives()
    grants = planners[0].ladder(methods) if privacy is None else _grants(privacy)
    several = len(planners) > 1
    rows: list[PlanRow] = []
    left_out: list[LeftOut] = []
    first: OgiveError | None = None
    candidates = [(grant, planner, *each) for grant in grants for planner in planners for each in methods.items()]
    for number, (grant, planner, name, method) in enumerate(candidates):
        place = planner.model.name if several else None
        try:
            rows += (dataclasses.replace(row, trust=place) for row in planner.rows(name, method, grant))
        except DOES_NOT_FIT as problem:
            first = first or problem
            left_out.append(LeftOut(name, grant, Marked(problem.marked), place))
        if progress is not None:
            progress(number + 1, len(candidates))
    if not rows:
        assert first is not None, "a statistic has at least one alternative"
        raise planners[0].reason(grants[0]) or first
    return plan_of(planners, records, rows, left_out)


def plan_of(
    planners: Sequence[Planner], records: int, rows: Sequence[PlanRow], left_out: Sequence[LeftOut] = ()
) -> Plan:
    """The plan of rows that planners of one statistic made."""
    return Plan(
        statistic=base.describe(planners[0].whole),
        records=records,
        unit=planners[0].setting.unit,
        trust=", ".join(dict.fromkeys(planner.model.name for planner in planners)),
        rows=tuple(rows),
        left_out=tuple(left_out),
        basis=Marked(
            "\n".join(dict.fromkeys(line for planner in planners for line in planner.basis.split("\n") if line))
        ),
        runs=max(planner.simulated for planner in planners),
    )


@dataclass
class Planner:
    """Predicts one row at a time, for one statistic and one number of records.

    Fields:
        statistic: What would be released, as it was written, without the words of which records.
        setting: What is planned for, with as many records as satisfy a condition, or as an average group has.
        runs: How many whole releases to simulate; None for as many as the statistic wants.
        whole: What would be released, with the words of which records.
        simulated: How many were simulated for a row; 0 where none was needed.
        written: The statistic as it was written, by guarantee; None where it does not fit.
    """

    statistic: base.Statistic[Any]
    setting: Setting
    model: TrustOptions
    runs: int | None
    whole: base.Statistic[Any]
    simulated: int = 0
    rested_on: list[str] = field(default_factory=list)
    written: dict[Privacy, Prediction | None] = field(default_factory=dict)

    @staticmethod
    def of(
        statistic: base.Statistic[Any],
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
        """Check all arguments of a plan."""
        records = any_whole(records, "records", 1, MAX_RECORDS)
        if runs is not None:
            whole(runs, "runs", 2)
        base.check_statistic(statistic)
        unit, model = _trusted(trust, check_adjacency(adjacency), person, max_rows_per_person)
        unit = dataclasses.replace(unit, public=check_columns(public))
        if not model.private:
            raise ParameterError(f"the trust model {model.name} has no noise, so there is nothing to plan")
        assumed = {"positive_share": positive_share, "auc": auc}
        records = part_records(statistic, records)
        shape = _shape(
            base.innermost(statistic), records, like, {name: each for name, each in assumed.items() if each is not None}
        )
        setting = Setting(
            records=records,
            unit=unit,
            shape=shape,
            given=like is not None,
            distributed="curator" not in model.serves and "linear" in model.serves,
            rehearse=rehearse,
            answer=answer_imagined,
        )
        held = trust.schema if isinstance(trust, TrustModel) else lambda: None
        question = base.settled(base.completed(statistic, held), unit)
        return Planner(base.innermost(question), setting, model, runs, question)

    @property
    def basis(self) -> str:
        """What the errors rest on, as a marked message."""
        simulated = f"simulated, {self.simulated} releases a row, on {self.setting.shape.words}"
        return "\n".join([*self.rested_on, *([simulated] if self.simulated else [])])

    def terms(self, privacy: Privacy) -> base.Terms:
        """What a release under that guarantee may spend and ask; intervals are not shown, so few simulations do."""
        return base.Terms(
            privacy,
            self.setting.unit,
            self.model.refusal,
            simulations=FEWEST_CURVES,
            count=lambda: self.setting.records,
            adding=self.model.adding,
            honest=self.model.honest,
            cell_limit=self.model.cell_limit,
        )

    def ladder(self, methods: Mapping[str, base.Statistic[Any]]) -> tuple[Privacy, ...]:
        """Guarantees to compare where none is named: fewer where that takes simulated releases."""
        for method in methods.values():
            with suppress(*DOES_NOT_FIT):
                decided = self.prediction(method, LADDER[-1]).decided
                return SHORT_LADDER if self.setting.given or not decided else LADDER
        return LADDER

    def prediction(self, method: base.Statistic[Any], privacy: Privacy) -> Prediction:
        """What the statistic says of one of its methods under one guarantee."""
        terms, parts = self.terms(privacy), base.parted(self.whole, method)
        for part in parts:
            terms = part.shared(terms)
        setting = dataclasses.replace(self.setting, unit=terms.unit) if parts else self.setting
        prediction = prediction_of(self.statistic.name)(method, terms, setting)
        for query in self._asked(prediction.questions):
            reason = undeclared(query, self.setting.unit)
            if reason is not None:
                raise UnsupportedError(reason)
        return prediction

    def _asked(self, questions: Sequence[Query]) -> list[Query]:
        """The questions of all parts together, from those of one."""
        queries = list(questions)
        for part in reversed(base.parted(self.whole, self.statistic)):
            queries = [part.parts.joined([query] * part.parts.number) for query in queries]
        return queries

    def row(self, name: str, method: base.Statistic[Any], privacy: Privacy) -> PlanRow:
        """The row of the method that would be chosen, the first of `rows`."""
        return self.rows(name, method, privacy)[0]

    def rows(self, name: str, method: base.Statistic[Any], privacy: Privacy) -> list[PlanRow]:
        """Price and errors of one method under one guarantee, and what it takes of parties and servers: a row for each
        kind of upload that fits, the one that would be taken first.
        """
        return self._rows_of(name, self.prediction(method, privacy), privacy)

    def taken(self, privacy: Privacy) -> PlanRow:
        """The row of the method that would be chosen, without the errors of any other."""
        self.written[privacy] = self.prediction(self.statistic, privacy)
        for name, method in self.statistic.alternatives().items():
            with suppress(*DOES_NOT_FIT):
                prediction = self.prediction(method, privacy)
                if self._is_written(prediction, privacy):
                    return self._rows_of(name, prediction, privacy)[0]
        raise AssertionError("one of the alternatives is the statistic as it was written")

    def _rows_of(self, name: str, prediction: Prediction, privacy: Privacy) -> list[PlanRow]:
        written = self._is_written(prediction, privacy)
        if written:  # "auto" may smooth otherwise than the method that it takes does by itself
            prediction = self.written[privacy] or prediction
        errors = self.errors(prediction)
        noise = prediction.noise(errors)
        queries = self._asked(prediction.questions)
        price = prediction.price
        if self.whole is not self.statistic:
            measured = {query.measurement: query for query in reversed(queries)}
            price = total_loss([query.price(self.setting.unit) for query in measured.values()])
        row = PlanRow(name, privacy, price, noise, errors, written, spans=errors.spans)
        sent = [query for query in queries if isinstance(query, LinearQuery | LabelsQuery)]
        uploads = self.model.traffic(sent, records=self.setting.records, adjacency=self.setting.unit.adjacency)
        return [
            dataclasses.replace(row, traffic=each, chosen=written and number == 0)
            for number, each in enumerate(uploads)
        ] or [row]

    def reason(self, privacy: Privacy) -> OgiveError | None:
        """Why a release of the statistic as it was written would be refused; None if it would not be."""
        try:
            self.prediction(self.statistic, privacy)
        except DOES_NOT_FIT as problem:
            return problem
        return None

    def _is_written(self, prediction: Prediction, privacy: Privacy) -> bool:
        """Whether the statistic as it was written is released like that."""
        if privacy not in self.written:
            self.written[privacy] = None
            with suppress(*DOES_NOT_FIT):
                self.written[privacy] = self.prediction(self.statistic, privacy)
        own = self.written[privacy]
        return own is not None and prediction.queries == own.queries and prediction.is_method_of(self.statistic)

    def errors(self, prediction: Prediction, *, wanted: str | None = None) -> Errors:
        """All errors that can be predicted, by name: those that hold for all data or for public shapes, then others.

        With `wanted`, nothing is simulated where that error is of the first kind.
        """
        errors = prediction.errors()
        self.rested_on += [words for words in errors.basis if words not in self.rested_on]
        if wanted in errors or (prediction.decided and not self.setting.given):
            return errors
        for name, value in self._simulate(prediction).items():
            errors[f"{name}_smoothed" if name in errors else name] = value
        return errors

    def _simulate(self, prediction: Prediction) -> dict[str, float]:
        """Whole releases of imagined records, against the exact answer for them."""
        runs = self.simulated = self.runs or prediction.runs
        statistic, terms = prediction.simulated()
        known: dict[Aggregate, Int64] = {}

        def sums(aggregate: Aggregate) -> Int64:
            if aggregate not in known:
                known[aggregate] = self.setting.shape.sums(aggregate)
            return known[aggregate]

        truth = self._truth(terms, sums)
        released = [rehearse(statistic, terms, sums, run=run + 1).estimate.errors(truth) for run in range(runs)]
        values = {name: np.array([errors[name] for errors in released]) for name in released[0]}
        lost = np.any([~np.isfinite(each) for each in values.values()], axis=0).mean()
        metrics = prediction.metrics
        errors = {
            name: _summed_up(each, squared=name in metrics and metrics[name].squared)
            for name, each in values.items()
            if np.isfinite(each).any()
        }
        return {**errors, "undefined": float(lost)} if lost else errors

    def _truth(self, terms: base.Terms, sums: Sums) -> base.Estimate:
        """The exact answer, by the first method that fits; some methods find less of it than others.

        Records are imagined, so where nobody sees records somebody here does.
        """
        if "linear" not in self.model.serves:
            terms = dataclasses.replace(terms, refusal=ClearOptions().refusal)
        for method in self.statistic.alternatives().values():
            with suppress(*DOES_NOT_FIT):
                return rehearse(method, terms, sums, run=None).estimate
        return rehearse(self.statistic, terms, sums, run=None).estimate


def part_records(statistic: Any, records: int) -> int:
    """How many records a part has on average, of so many that satisfy the condition, if there is one."""
    for part in base.parted(statistic, base.innermost(statistic)):
        records = max(1, part.parts.records(records) or records)
    return records


def _shape(statistic: base.Statistic[Any], records: int, like: Any, assumed: Mapping[str, float]) -> Shape:
    """The records that errors are simulated on: those given, or those that the statistic imagines."""
    if like is None:
        return prediction_of(statistic.name).imagined(statistic, records, assumed)
    for name, value in assumed.items():
        raise ParameterError(
            f"errors are simulated on `like`; leave out `{name}={value:g}`, which is of an assumed model"
        )
    return Repeated(like, records)


def _summed_up(values: Float64, *, squared: bool) -> float:
    """Root mean square or mean of the runs in which there was an error to see."""
    finite = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(finite**2)) if squared else np.mean(np.abs(finite)))


def _grants(privacy: Privacy | Sequence[Privacy]) -> tuple[Privacy, ...]:
    if isinstance(privacy, list | tuple):
        if not privacy:
            raise ParameterError("name at least one guarantee, for example `privacy=[PureDP(1)]`")
        return tuple(dict.fromkeys(check_privacy(each) for each in privacy))
    return (check_privacy(privacy),)


def _trusted(trust: Planned, adjacency: Adjacency, person: str | None, rows: int) -> tuple[PrivacyUnit, TrustOptions]:
    """The privacy unit, and what is known of the trust model without any records."""
    if isinstance(trust, type | Simulation | str):
        return PrivacyUnit(adjacency, person, rows), Simulation.of(trust).options
    if not isinstance(trust, TrustModel):
        raise ParameterError(f"`trust` must be a trust model such as Central, got {quoted(trust)}")
    return PrivacyUnit(adjacency, person, rows) if person is not None else trust.unit(adjacency), trust.options


def rehearse(statistic: base.Statistic[Any], terms: base.Terms, sums: Sums, *, run: int | None) -> Rehearsal:
    """Ask everything of known sums.

    `terms`: Privacy, unit and what the trust model can serve. `run`: Number of the imagined release, which fixes its
    noise; None for exact answers.
    """
    holder = Imagined(sums, terms.adjacency, adding=terms.adding, honest=terms.honest, run=run)
    outcome = drive(statistic, terms, holder)
    measured = tuple(holder.with_noise(query) for query in outcome.measured)
    return Rehearsal(outcome.estimate, measured, outcome.queries, outcome.price, terms)


def answer_imagined(query: Query, sums: Int64, terms: base.Terms, run: int | None) -> Answer:
    """The answer to one query about known sums, without a price."""
    holder = Imagined(lambda _: sums, terms.adjacency, adding=terms.adding, honest=terms.honest, run=run)
    return holder.answer(query)


def plan_taken(
    statistic: base.Statistic[Any], *, privacy: Privacy, records: int, unit: PrivacyUnit, trust: Planned
) -> Plan:
    """Predict what the method that is taken costs, and how far off it is.

    `records`: Number of records; a guess if the adjacency keeps it private. `trust`: Trust model, as for `plan`.

    Privacy:
        Reads no private records and costs nothing.
    """
    planner = Planner.of(
        statistic,
        records,
        unit.adjacency,
        unit.person,
        unit.max_rows_per_person,
        trust,
        None,
        None,
        None,
        None,
        public=unit.public,
    )
    return plan_of([planner], records, [planner.taken(privacy)])


# --- The smallest guarantee whose predicted error is small enough

KINDS = ("pure", "zcdp", "approx")
LOWEST, HIGHEST = -12, 4  # powers of ten between which a loss is sought
_START = 0  # a loss of 1
_MOST_TRIALS = 20  # for progress; most searches try five to ten guarantees
_PER_DECADE = 900  # decimals of three digits


def required_privacy(
    statistic: base.Statistic[Any],
    *,
    records: int,
    error: Mapping[str, float],
    kind: str = "pure",
    delta: Rational | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    person: str | None = None,
    max_rows_per_person: int = 1,
    trust: Planned = Central,
    public: Sequence[str] | str = (),
    like: Any = None,
    positive_share: float | None = None,
    auc: float | None = None,
    runs: int | None = None,
    progress: Progress | None = None,
) -> Privacy:
    """Find the smallest guarantee whose predicted error is at most a given one.

    Args:
        statistic: The statistic to plan, with its own method; "auto" is the best one.
        records: Number of records, or a guess if it is private.
        error: One name and the largest acceptable value, for example {"ks": 0.01}. The names are those of a plan's
            errors (rmse, ks, ks_95, band, and with simulated releases auc and others), the headings of their columns,
            or one word that no other heading has, such as mean. Of curves and quantiles {"median": 1} and
            {"quantiles": 1} are distances of values, in 95 of 100 releases, as a plan states them. Errors of values
            are in units of the column.
        kind: "pure", "zcdp", or "approx", which needs delta.
        delta: Delta of an approximate guarantee.
        adjacency: Which data sets would be adjacent.
        person: Column with the person's identifier.
        max_rows_per_person: How many of a person's records would be kept.
        trust: Trust model, as for `plan`.
        public: Public columns, as for `release`.
        like: Public or synthetic records to simulate on, as for `plan`.
        positive_share: Share of positive records, as for `plan`.
        auc: AUC of the scores, as for `plan`.
        runs: Number of releases to simulate for each guarantee tried, if needed.
        progress: Called with the number of guarantees tried and the largest expected number.

    Returns:
        A guarantee of that kind, with its parameter rounded up to three significant digits.

    Raises:
        ParameterError: an argument is out of range, or no guarantee attains the error.

    Privacy:
        Reads no private records and costs nothing.
    """
    given_name, largest = _wanted(error)
    make = _maker(kind, delta)
    planner = Planner.of(
        statistic,
        records,
        adjacency,
        person,
        max_rows_per_person,
        trust,
        like,
        positive_share,
        auc,
        runs,
        public=public,
    )
    metrics = metrics_of(base.innermost(statistic).name)
    name, largest, factor = _of_values(base.innermost(planner.statistic), named(metrics, given_name), largest, metrics)
    trials = 0

    def value(loss: Fraction) -> float:
        try:
            errors = planner.errors(planner.prediction(planner.statistic, make(loss)), wanted=name)
        except ScaleError:
            return math.inf  # more noise than can be drawn
        nonlocal trials
        trials += 1
        if progress is not None:
            progress(min(trials, _MOST_TRIALS), _MOST_TRIALS)
        predicted = among_errors(metrics, errors, name)
        if predicted not in errors:
            raise ParameterError(f"`error` must name one of {listed(metrics, errors)}, got {quoted(given_name)}")
        return errors[predicted] * factor

    return make(_smallest(value, largest, given_name))


def _of_values(statistic: base.Statistic[Any], name: str, largest: float, metrics: Metrics) -> tuple[str, float, float]:
    """The predicted error that a wanted one stands for, its largest value, and what it is multiplied by."""
    from ogive.releasing.planning.text import DISTANCES, READ_OFF, Scale

    scale = Scale.of(base.describe(statistic), None)
    if name in metrics:
        return name, largest, scale.span if metrics[name].of_range else 1.0
    if statistic.name not in READ_OFF or name not in DISTANCES or scale.step is None:
        return name, largest, 1.0
    error, times = DISTANCES[name]
    if largest <= scale.step:
        raise ParameterError(
            f"an error of {name} is at least a step of the grid, {scale.step:.3g}; ask for a larger error or more "
            f"`bins`, got {largest:g}"
        )
    return error, largest - scale.step, times * scale.span


def _smallest(value: Callable[[Fraction], float], wanted: float, name: str) -> Fraction:
    """The smallest loss of three digits at which a falling error is at most the wanted one.

    Errors fall about like a power of the loss, so the search goes along a straight line in the
    logarithms, and halves the interval where that does not help.
    """
    errors: dict[int, float] = {}

    def met(step: int) -> bool:
        if step not in errors:
            errors[step] = value(_loss(step))
        return errors[step] <= wanted

    lowest, highest = LOWEST * _PER_DECADE, HIGHEST * _PER_DECADE
    low = high = _START
    reach = 32
    while met(low) and low > lowest:
        high, low, reach = low, max(lowest, min(low - reach, _along_line(errors, low, wanted))), 2 * reach
    while not met(high):
        if high == highest:
            raise ParameterError(
                f"no guarantee up to {float(_loss(high)):g} brings {name} to {wanted:g}: with almost no noise it would "
                f"still be {errors[high]:.3g}; ask for a larger error or plan for more records"
            )
        low, high, reach = high, min(highest, max(high + reach, _along_line(errors, high, wanted))), 2 * reach
    if met(low):
        return _loss(low)
    halve = False
    while high - low > 1:
        middle = (low + high) // 2 if halve else _between(low, high, errors, wanted)
        before = high - low
        low, high = (low, middle) if met(middle) else (middle, high)
        halve = high - low > before / 2
    return _loss(high)


def _along_line(errors: Mapping[int, float], step: int, wanted: float) -> int:
    """Where the error would be as wanted if it fell like 1 / loss."""
    error = errors[step]
    if not 0 < error < math.inf:
        return step
    return _nearest(float(_loss(step)) * min(1e3, max(1e-3, error / wanted)))


def _between(low: int, high: int, errors: Mapping[int, float], wanted: float) -> int:
    """Where a line through both ends meets the wanted error, strictly between them."""
    above, below = errors[low], errors[high]
    middle = (low + high) // 2
    if 0 < below < above < math.inf:
        share = math.log(above / wanted) / math.log(above / below)
        ends = math.log(_loss(low)), math.log(_loss(high))
        middle = _nearest(math.exp(ends[0] + share * (ends[1] - ends[0])))
    return min(max(middle, low + 1), high - 1)


def _nearest(loss: float) -> int:
    """Number of the decimal of three digits at or above a loss."""
    power = math.floor(math.log10(loss))
    return power * _PER_DECADE + math.ceil(round(loss / 10.0**power * 100, 6)) - 100


def _loss(step: int) -> Fraction:
    """The decimal of three digits with this number; 0 is 1.00."""
    power, digits = divmod(step, _PER_DECADE)
    return Fraction(f"{digits + 100}e{power - 2}")


def _wanted(error: Any) -> tuple[str, float]:
    if not isinstance(error, Mapping) or len(error) != 1:
        raise ParameterError(
            f'`error` must be one name and its largest value, for example {{"ks": 0.01}}, got {quoted(error)}'
        )
    [(name, value)] = error.items()
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ParameterError(f"the wanted error must be a number above 0, got {quoted(value)}")
    return str(name), float(value)


def _maker(kind: str, delta: Rational | None) -> Callable[[Fraction], Privacy]:
    among(kind, "kind", KINDS)
    if (kind == "approx") != (delta is not None):
        raise ParameterError('`delta` belongs to `kind="approx"`, which needs it, for example `delta="1e-6"`')
    if kind == "zcdp":
        return ZeroConcentratedDP
    if delta is None:
        return PureDP
    return lambda epsilon: ApproxDP(epsilon, delta)

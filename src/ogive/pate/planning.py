"""A plan of labels: aggregators, thresholds and noise, tried on public or simulated votes at prices for all votes.

To choose by private votes is not covered by what their labels cost, so that votes for planning must be public.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from decimal import ROUND_CEILING, Context, Decimal
from itertools import cycle
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ogive.accounting import gaussian_grant
from ogive.core.arrays import Bool, Float32, Float64, Int64
from ogive.core.checks import Progress, any_whole
from ogive.errors import DataError, OgiveError, ParameterError, quoted
from ogive.pate.aggregators import BITS, ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins
from ogive.pate.costs.answers import check_probabilities, largest_excess
from ogive.pate.costs.cost import privacy_cost
from ogive.pate.learners import check_labels, check_seed
from ogive.pate.votes import check_votes
from ogive.privacy import ApproxDP, Rational, exact
from ogive.releasing.planning.rows import BasePlan
from ogive.releasing.planning.text import Column, Table, draw_lines
from ogive.showing.pictures import BLUE, GRAY, ORANGE, caption, legend, lighten, new_axes
from ogive.showing.view import Card
from ogive.statistics.plain_json import Fields, is_number

# --- Rows of a plan, and how they are stored

PlannedAggregator = ConfidentGNMax | InteractiveGNMax | GNMax | LargestMargins

_KINDS: dict[str, Callable[..., PlannedAggregator]] = {
    "confident": ConfidentGNMax,
    "interactive": InteractiveGNMax,
    "gnmax": GNMax,
    "margins": LargestMargins,
}
_PARAMETERS = {
    "confident": ("threshold", "sigma_1", "sigma_2"),
    "interactive": ("threshold", "sigma_1", "sigma_2", "confidence"),
    "gnmax": ("sigma",),
    "margins": ("sigma", "keep"),
}


@dataclass(frozen=True)
class LabelsPlanRow:
    """The best aggregator of one kind for one guarantee and number of answers.

    Fields:
        epsilon: Upper bound of the cost of the labels at the plan's delta, for all votes.
        aggregator: "confident", "interactive", "margins" or "gnmax".
        parameters: Parameters of the aggregator, in votes; the confidence is a probability.
        asked: Number of queries asked, from the first.
        max_answers: Number of answers that are charged; for "margins" the number of labelled queries.
        answered: Expected number of answers.
        right: Expected share of answers that agree with the true class, or with the plurality if that is unknown.
        joint: The data-dependent cost of these votes, for comparison; it is not a guarantee for other votes. None for
            "margins".
        corrected: Expected number of correct answers where the student is wrong; None without a student.
    """

    epsilon: float
    aggregator: str
    parameters: dict[str, float]
    asked: int
    max_answers: int
    answered: float
    right: float
    joint: float | None
    corrected: float | None

    @property
    def gain(self) -> float:
        """The criterion for choosing rows: correct answers, or with a student those that correct it."""
        return self.answered * self.right if self.corrected is None else self.corrected

    def made(self) -> PlannedAggregator:
        """The aggregator of this row."""
        return _KINDS[self.aggregator](**self.parameters)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class LabelsPlan(BasePlan[LabelsPlanRow]):
    """Comparison of aggregators for planned labels.

    Fields:
        delta: Delta of every guarantee.
        queries: Number of queries in the votes.
        teachers: Number of teachers in the votes.
        classes: Number of classes in the votes.
        known: Whether labels are compared with the true classes; else with the plurality.
        rows: Rows by guarantee, number of answers and aggregator.
    """

    schema: ClassVar[str] = "ogive.labels_plan/1"
    kind: ClassVar[str] = "a plan of labels"

    delta: float
    queries: int
    teachers: int
    classes: int
    known: bool
    rows: tuple[LabelsPlanRow, ...]

    @property
    def _page(self) -> ModuleType:
        return sys.modules[__name__]

    @property
    def best_by_epsilon(self) -> tuple[LabelsPlanRow, ...]:
        """For each epsilon, in increasing order, the row with the most correct answers.

        With a student, the row whose answers correct it most often.
        """
        budgets = sorted({row.epsilon for row in self.rows})
        return tuple(
            max((row for row in self.rows if row.epsilon == each), key=lambda row: row.gain) for each in budgets
        )

    @property
    def best(self) -> LabelsPlanRow:
        """The last row of `best_by_epsilon`, which has the largest epsilon."""
        return self.best_by_epsilon[-1]

    @property
    def chosen(self) -> LabelsPlanRow:
        """The same as `best`."""
        return self.best

    @classmethod
    def _arguments(cls, known: Fields) -> dict[str, Any]:
        queries = known.whole("queries", 1)
        names = [field.name for field in fields(LabelsPlanRow)]
        return {
            "delta": known.chance("delta"),
            "queries": queries,
            "teachers": known.whole("teachers", 1),
            "classes": known.whole("classes", 2),
            "known": known.flag("known"),
            "rows": tuple(_read_row(row, queries) for row in known.rows("rows", "a plan's row", names, nonempty=True)),
        }


def _read_row(row: Fields, queries: int) -> LabelsPlanRow:
    if row.text("aggregator") not in _KINDS:
        raise DataError(f"the aggregator of a plan's row must be {', '.join(_KINDS)}")
    asked = row.whole("asked", 1, queries)
    read = LabelsPlanRow(
        epsilon=row.number("epsilon"),
        aggregator=row.text("aggregator"),
        parameters=_read_parameters(row),
        asked=asked,
        max_answers=row.whole("max_answers", 1, queries),
        answered=row.number("answered", asked),
        right=row.number("right", 1),
        joint=None if row.data["joint"] is None else row.number("joint"),
        corrected=None if row.data["corrected"] is None else row.number("corrected", asked),
    )
    try:
        read.made()
    except OgiveError as problem:
        raise DataError(f"the parameters of a plan's row: {problem}") from None
    return read


def _read_parameters(row: Fields) -> dict[str, float]:
    wanted, given = _PARAMETERS[row.text("aggregator")], row.data["parameters"]
    if not isinstance(given, dict) or set(given) != set(wanted) or not all(map(is_number, given.values())):
        aggregator = row.text("aggregator")
        raise DataError(f"the parameters of {aggregator} in a plan's row must be numbers: {', '.join(wanted)}")
    return dict(given)


# --- What an aggregator would do with public votes: how many it answers and how many of these are right, by simulation
#
# All candidates meet the same noise, scaled to each, so that they differ by what they are and not by luck.

MOST_RUNS = 50
_MOST_NUMBERS = 1 << 22


class Predicted(NamedTuple):
    """Averages over runs.

    Fields:
        right: Share of these whose label is the one that is wanted; 0 where none is answered.
        corrected: How many are right where the student errs; None without a student.
    """

    answered: float
    right: float
    corrected: float | None

    @property
    def gain(self) -> float:
        """What a plan makes the most of: right answers, or those that correct the student where there is one."""
        return self.answered * self.right if self.corrected is None else self.corrected


class Rehearsal:
    """Votes with noise that every candidate is tried on.

    Args:
        votes: Counts, shape (queries, classes).
        wanted: The label that is right for each query, shape (queries,).
        probabilities: Predictions of a public student, shape (queries, classes).
    """

    def __init__(self, votes: Int64, wanted: Int64, *, seed: int = 0, probabilities: Float64 | None = None) -> None:
        queries, classes = votes.shape
        runs = int(min(MOST_RUNS, max(1, _MOST_NUMBERS // (queries * classes))))
        drawn = np.random.default_rng(check_seed(seed))
        self._votes = votes.astype(np.float32)
        self._highest = votes.max(axis=1).astype(np.float32)
        self._errs = self._excess = None
        if probabilities is not None:
            self._errs = probabilities.argmax(axis=1) != wanted
            self._excess = largest_excess(votes, probabilities).astype(np.float32)
        self._wanted = wanted
        self._checks: Float32 = drawn.standard_normal((runs, queries), dtype=np.float32)
        self._noise: Float32 = drawn.standard_normal((runs, queries, classes), dtype=np.float32)

    def right(self, sigma: float, *, asked: int) -> Bool:
        """Whether the largest noisy count is of the label that is wanted, of the first queries, shape (runs, asked)."""
        return np.asarray(self._noisy(sigma, asked).argmax(axis=2) == self._wanted[:asked])

    def confident(self, right: Bool, *, threshold: float, sigma_1: float, most: int) -> Predicted:
        """Of labels that are given where the check passes, at most `most`."""
        return self._checked(self._highest, right, threshold, sigma_1, most)

    def interactive(self, right: Bool, *, threshold: float, sigma_1: float, most: int) -> Predicted:
        """As `confident`, where the largest excess of votes over what the student expects is checked."""
        assert self._excess is not None
        return self._checked(self._excess, right, threshold, sigma_1, most)

    def plain(self, right: Bool) -> Predicted:
        """Of all queries."""
        return self._averages(np.ones_like(right), right)

    def margins(self, sigma: float, *, asked: int, keep: int) -> Predicted:
        """Of those of the first queries that have the largest noisy margins."""
        noisy = self._noisy(sigma, asked)
        top = np.partition(noisy, -2, axis=2)
        order = np.argsort(top[:, :, -2] - top[:, :, -1], axis=1, kind="stable")
        labelled = np.zeros(order.shape, dtype=np.bool_)
        np.put_along_axis(labelled, order[:, :keep], True, axis=1)
        return self._averages(labelled, noisy.argmax(axis=2) == self._wanted[:asked])

    def _checked(self, heights: Float32, right: Bool, threshold: float, sigma_1: float, most: int) -> Predicted:
        asked = right.shape[1]
        passed = heights[:asked] + np.float32(sigma_1) * self._checks[:, :asked] >= threshold
        return self._averages(passed & (np.cumsum(passed, axis=1) <= most), right)

    def _averages(self, answered: Bool, right: Bool) -> Predicted:
        count, good = int(answered.sum()), answered & right
        corrected = None if self._errs is None else float(good[:, self._errs[: right.shape[1]]].sum() / len(right))
        return Predicted(count / len(right), float(good.sum() / count) if count else 0.0, corrected)

    def _noisy(self, sigma: float, asked: int) -> Float32:
        return np.asarray(self._votes[:asked] + np.float32(sigma) * self._noise[:, :asked], dtype=np.float32)


# --- The plan

THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Of the check, as shares of the teachers."""

EXCESSES = (0.1, 0.2, 0.3, *THRESHOLDS)
"""Of the check of an excess over what a student expects, as shares of the teachers."""

CHECK_SHARES = (0.05, 0.1, 0.2, 0.3, 0.45)
"""Of the privacy that goes to the check."""

QUERIES_PER_ANSWER = (1.0, 1.25, 1.5, 2.0, 3.0, 5.0)
"""How many queries are asked for each that is answered; all are tried too."""

ANSWER_SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
"""Of the queries that are answered at most, where nobody says how many."""

_ROOM = 1 - 1e-9  # for the rounding of noise
_DIGITS = Context(prec=4, rounding=ROUND_CEILING)


def plan_labels(
    votes: ArrayLike,
    *,
    epsilons: Sequence[float],
    target_delta: Rational,
    answers: Sequence[int] | None = None,
    truth: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    confidence: Rational = "0.9",
    seed: int = 0,
    progress: Progress | None = None,
) -> LabelsPlan:
    """Choose an aggregator, its threshold and its noise on public votes.

    Costs are data-independent and equal within a guarantee: checks, and answers up to a limit, for ConfidentGNMax; one
    histogram per query for LargestMargins; answers only for GNMax. Only the first queries are asked if that gives more
    correct answers. For each kind the plan takes the parameters with the most correct answers in simulated runs.

    For a second round, give the probabilities of the first student. InteractiveGNMax is then tried too, and the plan
    counts answers that are correct where this student is wrong.

    Args:
        votes: Public or simulated counts, shape (queries, classes); see `simulated_votes`.
        epsilons: Epsilons to plan for, one or several.
        target_delta: Strictly between 0 and 1.
        answers: Largest numbers of answers, one or several; by default some shares of the queries.
        truth: The true classes, shape (queries,); None uses the plurality.
        probabilities: Predictions of a public student, shape (queries, classes).
        confidence: Confidence of InteractiveGNMax, which does not affect the cost; strictly between 0 and 1.
        seed: Seed of the simulated noise.
        progress: Called after every guarantee and number of answers.

    Raises:
        ParameterError: an argument is out of range.
        DataError: votes, classes or probabilities are invalid.

    Privacy:
        None for these votes, since the parameters depend on them. Never plan on the votes to be protected.

    Example:
        >>> from ogive.pate import plan_labels, simulated_votes
        >>> votes, truth = simulated_votes(200, 250, 10)
        >>> plan = plan_labels(votes, truth=truth, epsilons=[1], target_delta=1e-5, answers=[50])
        >>> sorted(row.aggregator for row in plan.rows)
        ['confident', 'gnmax', 'margins']
    """
    counts = check_votes(votes)
    queries, classes = counts.shape
    wanted = counts.argmax(axis=1) if truth is None else check_labels(truth, queries, classes)
    caps = _caps(answers, queries)
    if not epsilons or not all(0 < epsilon < math.inf for epsilon in epsilons):
        raise ParameterError(f"`epsilons` must be one or more numbers above 0, got {list(epsilons)}")
    scores = None if probabilities is None else check_probabilities(probabilities, counts.shape)
    rehearsal = Rehearsal(counts, wanted, seed=seed, probabilities=scores)
    sure = InteractiveGNMax(0, 1, 1, confidence).confidence
    rows: list[LabelsPlanRow] = []
    whole = len(epsilons) * len(caps)
    for number, (epsilon, most) in enumerate(((epsilon, most) for epsilon in epsilons for most in caps), start=1):
        granted = ApproxDP(epsilon, target_delta)
        # every histogram's counts and every check are integers on votes times 2^BITS
        mu = gaussian_grant(granted, integers=classes, per_unit=math.sqrt(2) * 2**BITS) * _ROOM
        bests = _bests(counts, rehearsal, mu, most, None if scores is None else sure)
        rows.extend(_row(best, counts, scores, granted, most) for best in bests)
        if progress is not None:
            progress(number, whole)
    teachers = int(counts[0].sum())
    return LabelsPlan(
        float(exact(target_delta, "target_delta")), queries, teachers, classes, truth is not None, tuple(rows)
    )


Candidate = tuple[PlannedAggregator, int, Predicted]
"""An aggregator, how many queries it is asked, and what it would bring."""


def _bests(
    votes: Int64, rehearsal: Rehearsal, mu: float, most: int, confidence: Rational | None
) -> Iterator[Candidate]:
    """The best of each kind at one price; of what is interactive too, where there is a confidence."""
    sizes = sorted({*(min(len(votes), math.ceil(times * most)) for times in QUERIES_PER_ANSWER), len(votes)})
    kinds = [_checked(votes, rehearsal, mu, most, sizes, None)]
    if confidence is not None:
        kinds.append(_checked(votes, rehearsal, mu, most, sizes, confidence))
    kinds += [_margins(rehearsal, mu, most, sizes), _plain(rehearsal, mu, most)]
    for kind in kinds:
        yield max(kind, key=lambda candidate: candidate[2].gain)


def _checked(
    votes: Int64, rehearsal: Rehearsal, mu: float, most: int, sizes: Sequence[int], confidence: Rational | None
) -> Iterator[Candidate]:
    """ConfidentGNMax, or InteractiveGNMax with a confidence."""
    teachers = int(votes[0].sum())
    parts = THRESHOLDS if confidence is None else EXCESSES
    check = rehearsal.confident if confidence is None else rehearsal.interactive
    for share in CHECK_SHARES:
        sigma_2 = up(math.sqrt(2 * most / (1 - share)) / mu)
        whole = rehearsal.right(float(sigma_2), asked=len(votes))
        for asked in sizes:
            sigma_1 = up(math.sqrt(asked / share) / mu)
            for threshold in (round(part * teachers) for part in parts):
                predicted = check(whole[:, :asked], threshold=threshold, sigma_1=float(sigma_1), most=most)
                if confidence is None:
                    yield ConfidentGNMax(threshold, sigma_1, sigma_2), asked, predicted
                else:
                    yield InteractiveGNMax(threshold, sigma_1, sigma_2, confidence), asked, predicted


def _margins(rehearsal: Rehearsal, mu: float, most: int, sizes: Sequence[int]) -> Iterator[Candidate]:
    for asked in sizes:
        sigma = up(math.sqrt(2 * asked) / mu)
        yield LargestMargins(sigma, keep=most), asked, rehearsal.margins(float(sigma), asked=asked, keep=most)


def _plain(rehearsal: Rehearsal, mu: float, most: int) -> Iterator[Candidate]:
    sigma = up(math.sqrt(2 * most) / mu)
    yield GNMax(sigma), most, rehearsal.plain(rehearsal.right(float(sigma), asked=most))


def _row(candidate: Candidate, votes: Int64, scores: Float64 | None, granted: ApproxDP, most: int) -> LabelsPlanRow:
    aggregator, asked, predicted = candidate
    epsilon, delta, joint = float(granted.epsilon), float(granted.delta), None
    if not isinstance(aggregator, LargestMargins):
        asks = scores is not None and isinstance(aggregator, InteractiveGNMax)
        cost = privacy_cost(
            votes[:asked],
            aggregator,
            target_delta=delta,
            mode="joint",
            probabilities=scores[:asked] if scores is not None and asks else None,
        )
        joint = min(cost.epsilon, epsilon)  # which knows no cap, so that the guarantee may be the smaller one
    names = ("threshold", "sigma_1", "sigma_2", "sigma", "keep", "confidence")
    given = {name: getattr(aggregator, name) for name in names if hasattr(aggregator, name)}
    parameters = {name: value if isinstance(value, int) else float(value) for name, value in given.items()}
    return LabelsPlanRow(
        epsilon=epsilon,
        aggregator=aggregator.name,
        parameters=parameters,
        asked=asked,
        max_answers=most,
        answered=predicted.answered,
        right=predicted.right,
        joint=joint,
        corrected=predicted.corrected,
    )


def _caps(answers: Sequence[int] | None, queries: int) -> tuple[int, ...]:
    if answers is None:
        return tuple(sorted({max(1, round(share * queries)) for share in ANSWER_SHARES}))
    if not answers:
        raise ParameterError("`answers` must be one or more numbers")
    return tuple(dict.fromkeys(any_whole(most, "answers", 1, queries) for most in answers))


def up(value: float) -> str:
    """A number of four digits that is no smaller, as it is written: noise that costs no more."""
    return format(_DIGITS.create_decimal(Decimal(value)).normalize(), "f")


# --- Votes as they are imagined where none are public: on some queries most teachers agree, on the others they waver

_AGREEING = (14.0, 1.2)
_WAVERING = (3.0, 3.0)
_OTHERS = 0.4
_MOST = 1 << 28


def simulated_votes(
    queries: int,
    teachers: int,
    classes: int,
    *,
    agreement: float = 0.85,
    probabilities: ArrayLike | None = None,
    seed: int = 0,
) -> tuple[Int64, Int64]:
    """Simulate vote counts of teachers.

    For a share `agreement` of the queries the probability of the true class has a Beta(14, 1.2) distribution (mean
    about 0.9), for the others Beta(3, 3). The other classes share the remaining probability unevenly.

    Args:
        queries: Number of queries, at least 1.
        teachers: Number of teachers, at least 1.
        classes: Number of classes, at least 2.
        agreement: Share of queries on which most teachers agree, from 0 to 1.
        probabilities: Predictions of a public student, from which true classes are drawn, shape (queries, classes);
            None makes all classes equally likely.
        seed: Seed of the simulation.

    Returns:
        Vote counts, int64, shape (queries, classes), and the true classes, shape (queries,).

    Raises:
        ParameterError: an argument is out of range.
        DataError: probabilities are invalid, or have another shape.

    Example:
        >>> from ogive.pate import simulated_votes
        >>> votes, truth = simulated_votes(100, 250, 10)
        >>> votes.shape, int(votes.sum(axis=1).min()), truth.shape
        ((100, 10), 250, (100,))
    """
    for name, value, least in (("queries", queries, 1), ("teachers", teachers, 1), ("classes", classes, 2)):
        any_whole(value, name, least)
    if queries * classes > _MOST:
        raise ParameterError(f"{queries} queries of {classes} classes are too many to simulate; use fewer")
    if isinstance(agreement, bool) or not math.isfinite(agreement) or not 0 <= agreement <= 1:
        raise ParameterError(f"`agreement` must be a share from 0 to 1, got {quoted(agreement)}")
    drawn = np.random.default_rng(check_seed(seed))
    agreeing = drawn.random(queries) < agreement
    chance = np.where(agreeing, drawn.beta(*_AGREEING, queries), drawn.beta(*_WAVERING, queries))
    truth = _truth(queries, classes, probabilities, drawn)
    others = drawn.dirichlet(np.full(classes - 1, _OTHERS), queries) * (1 - chance)[:, np.newaxis]
    law = np.empty((queries, classes))
    places = np.arange(classes)[np.newaxis, :] != truth[:, np.newaxis]
    law[places] = others.ravel()
    law[~places] = chance
    return drawn.multinomial(teachers, law / law.sum(axis=1, keepdims=True)).astype(np.int64), truth


def _truth(queries: int, classes: int, probabilities: ArrayLike | None, drawn: np.random.Generator) -> Int64:
    if probabilities is None:
        return drawn.integers(0, classes, queries)
    below = np.cumsum(check_probabilities(probabilities, (queries, classes)), axis=1)
    return np.asarray((below < drawn.random((queries, 1)) * below[:, -1:]).sum(axis=1), dtype=np.int64)


# --- A plan of labels as a table to read


def table(plan: LabelsPlan) -> str:
    """A row for every guarantee, number of answers and aggregator, then what the columns say."""
    shown = Table(_columns(plan), plan.rows)
    return "\n".join([_heading(plan), shown.heading, *map(shown.line, plan.rows), *_legend(plan)])


def short(plan: LabelsPlan) -> str:
    """A few words."""
    rows = len(plan.rows)
    return f"of {_heading(plan)}: {rows} {'row' if rows == 1 else 'rows'}; best {plan.best.aggregator}"


def card(plan: LabelsPlan) -> Card:
    """What notebooks show."""
    columns = _columns(plan)
    rows = [[column.cell(row) for column in columns] for row in plan.rows]
    return Card(
        "Plan of labels", [("votes", _heading(plan))], [column.title for column in columns], rows, _legend(plan)
    )


def _heading(plan: LabelsPlan) -> str:
    return f"{plan.queries} queries, {plan.teachers} teachers, {plan.classes} classes, delta = {plan.delta:g}"


def _taught(plan: LabelsPlan) -> bool:
    return any(row.corrected is not None for row in plan.rows)


def _columns(plan: LabelsPlan) -> list[Column[LabelsPlanRow]]:
    return [
        Column("epsilon", lambda row: f"{row.epsilon:.4g}"),
        Column("at most", lambda row: str(row.max_answers)),
        Column("aggregator", lambda row: row.aggregator, left=True, least=11),
        Column("asked", lambda row: str(row.asked)),
        Column("answered", lambda row: f"{row.answered:.1f}"),
        Column("right", lambda row: f"{row.right:.1%}", least=6),
        *(
            [Column("corrects", lambda row: "" if row.corrected is None else f"{row.corrected:.1f}")]
            if _taught(plan)
            else []
        ),
        Column("joint", lambda row: "-" if row.joint is None else f"{row.joint:.3f}"),
        Column(
            "parameters",
            lambda row: ", ".join(f"{name} {value:g}" for name, value in row.parameters.items()),
            left=True,
        ),
    ]


def _legend(plan: LabelsPlan) -> list[str]:
    what = "the truth" if plan.known else "the plurality"
    lines = [
        f"right: share of answers that agree with {what}; margins and confident select easy queries",
        "epsilon holds for all votes; joint is the data-dependent cost and holds only for votes like these",
    ]
    if _taught(plan):
        lines.append(
            "corrects: number of answers that are right where the student errs; the criterion for choosing rows"
        )
    return lines + [_best(row) for row in plan.best_by_epsilon]


def _best(row: LabelsPlanRow) -> str:
    gain = "right answers" if row.corrected is None else "answers that correct the student"
    return f"most {gain} at epsilon = {row.epsilon:.4g}: {row.aggregator}, {row.gain:.1f} of {row.answered:.1f}"


# --- A plan of labels as a picture

_COLORS = {"margins": BLUE, "confident": ORANGE, "gnmax": GRAY, "interactive": "#009E73"}
_MARKS = {"margins": "o", "confident": "s", "gnmax": "^", "interactive": "D"}
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))


def draw(plan: LabelsPlan, ax: Any = None) -> Any:
    """Draw the share of right labels, a line for each aggregator.

    Against epsilon, with a line of its own for each number of answers; against the number of answers where there are
    more of these.
    """
    axes = new_axes(ax)
    epsilons = sorted({row.epsilon for row in plan.rows})
    answers = sorted({row.max_answers for row in plan.rows})
    by_epsilon = len(epsilons) >= len(answers)
    across, apart = (epsilons, answers) if by_epsilon else (answers, epsilons)
    dashes: dict[float, Any] = dict(zip(apart, cycle(_DASHES), strict=False))

    def places(row: LabelsPlanRow) -> tuple[float, float]:
        return (row.epsilon, row.max_answers) if by_epsilon else (row.max_answers, row.epsilon)

    lines: dict[str, list[tuple[float, float]]] = {}
    styles: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(row.aggregator for row in plan.rows):
        for other in apart:
            clause = f", at most {other:,} answers" if by_epsilon else f", epsilon = {other:g}"
            label = name + (clause if len(apart) > 1 else "")
            rows = [row for row in plan.rows if row.aggregator == name and places(row)[1] == other]
            lines[label] = [(places(row)[0], 100 * row.right) for row in rows]
            styles[label] = {"color": _COLORS[name], "marker": _MARKS[name], "linestyle": dashes[other]}
    draw_lines(axes, lines, styles, across)
    axes.set_xlabel(f"epsilon, at delta = {plan.delta:g}" if by_epsilon else "Answers at most")
    axes.set_ylabel("Right labels, % of those given")
    axes.set_ylim(top=100.5)
    one = f"; at most {apart[0]:,} answers" if by_epsilon else f"; epsilon = {apart[0]:g}"
    clause = f"{plan.queries:,} queries, {plan.teachers:,} teachers, {plan.classes:,} classes"
    what = "the truth" if plan.known else "the plurality"
    caption(axes, f"Labels that agree with {what}", clause + (one if len(apart) == 1 else ""), private=True)
    legend(axes)
    lighten(axes)
    return axes

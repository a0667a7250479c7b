"""Which method releases a curve: strategies without bias, private selection, methods by name, and what `auto` takes.

The choice rests on public quantities alone: the number of thresholds, the guarantee, the adjacency, how many
records a person may have, and the number of records where that is public or guessed publicly. It costs nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np

from ogive.accounting import gaussian_rho, loss_per_row, pure_epsilon
from ogive.core.checks import among, whole
from ogive.errors import ParameterError, ScaleError, UnsupportedError, quoted
from ogive.noise import too_much_noise
from ogive.privacy import Adjacency, ApproxDP, Privacy, PureDP, Rational, ZeroConcentratedDP, exact
from ogive.queries import Answer, Query
from ogive.queries.selection import FRACTION_BITS, LARGEST_SIZE, ApproximationScore, NoisyMaxQuery, design_noisy_max
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import (
    EVERY,
    FIRST,
    NO_ERROR,
    USUAL,
    CurveMethod,
    CurveTask,
    Expected,
    Shapes,
    guessed,
    mean_variance,
    measured_once,
    noise_energy,
    owners_answer,
    possible,
    public_noise,
    simulated_curve,
    strategy_errors,
    typical,
)
from ogive.statistics.methods.curve_methods import AdaptiveQuantiles, HistogramQueries, Projection, Reports
from ogive.strategies import (
    Strategy,
    design_hats,
    design_path,
    design_ring,
    design_square_root,
    design_symmetric_root,
    design_tree,
)
from ogive.strategies.base import approximates
from ogive.strategies.smoothing import DEFAULT_SMOOTHING, Smooth, unsmoothable

# --- Strategies without bias

UnbiasedMethod = Literal["path", "tree_ls", "hat_ls", "sqrt", "symmetric", "ring"]
UnbiasedName = Literal["auto", UnbiasedMethod]
UNBIASED_METHODS: tuple[UnbiasedMethod, ...] = get_args(UnbiasedMethod)
"""Methods that measure every threshold without bias; `METHODS` has all."""

_PURE: dict[str, Callable[..., Strategy]] = {"path": design_path, "tree_ls": design_tree, "hat_ls": design_hats}
_GAUSSIAN: dict[str, Callable[..., Strategy]] = {
    **_PURE,
    "sqrt": design_square_root,
    "symmetric": design_symmetric_root,
    "ring": design_ring,
}
_BEST_UNDER = {"symmetric": Adjacency.ADD_OR_REMOVE, "ring": Adjacency.REPLACE}
"""Under which adjacency `auto` designs a method; under the other one `sqrt` has less variance."""
LARGEST_AUTOMATIC = 1 << 18
"""Thresholds up to which `auto` designs them; above, designs take seconds, and gain 3 percent."""

# Below it the pure guarantee would need noise of a scale above 2^47, whatever is measured.
_LEAST_RHO = Fraction(1, 1 << 95)


def grants(privacy: Privacy) -> tuple[PureDP | ZeroConcentratedDP, ...]:
    """The pure and the concentrated guarantees that imply the wanted one."""
    match privacy:
        case PureDP():
            return (privacy,)
        case ZeroConcentratedDP():
            return (privacy,) if privacy.rho < _LEAST_RHO else (privacy, pure_epsilon(privacy))
        case ApproxDP():
            return (gaussian_rho(privacy), pure_epsilon(privacy))


@lru_cache(maxsize=128)
def candidates(
    size: int, privacy: Privacy, adjacency: Adjacency, method: str = "auto", *, rows: int = 1
) -> tuple[Strategy, ...]:
    """Every strategy of that method (or all) that meets the guarantee, best predicted error first.

    Strategies that would need more noise than can be drawn are left out.
    """
    among(method, "method", ("auto", *UNBIASED_METHODS))
    results: list[Strategy] = []
    failed: list[tuple[PureDP | ZeroConcentratedDP, ScaleError]] = []
    for grant in grants(privacy):
        designs = _PURE if isinstance(grant, PureDP) else _GAUSSIAN
        wanted = automatic(size, adjacency) if method == "auto" else (method,)
        for name in (name for name in designs if name in wanted):
            try:
                results.append(designs[name](size, privacy=loss_per_row(grant, rows), adjacency=adjacency))
            except ScaleError as error:
                failed.append((grant, error))
    if failed and not results:
        raise too_much_noise(privacy, f"{size} threshold{'s' if size > 1 else ''}", failed)
    if not results:
        raise ParameterError(
            f"method {quoted(method)} cannot give {privacy} with Gaussian noise; use `ZeroConcentratedDP` or "
            "`ApproxDP`, or use `method='auto'`"
        )
    return tuple(sorted(results, key=lambda strategy: mean_variance(strategy, adjacency)))


def automatic(size: int, adjacency: Adjacency) -> tuple[UnbiasedMethod, ...]:
    """The methods among which "auto" looks for the least variance."""
    return tuple(
        name
        for name in UNBIASED_METHODS
        if name not in _BEST_UNDER or (adjacency is _BEST_UNDER[name] and size <= LARGEST_AUTOMATIC)
    )


def choose(
    size: int,
    privacy: Privacy,
    adjacency: Adjacency,
    method: str | Strategy,
    refusal: Callable[[Strategy], str | None],
    *,
    rows: int = 1,
) -> Strategy:
    """The strategy with the smallest predicted error that the trust model can serve; a designed one as it is."""
    if not isinstance(method, str):
        return fitting(method, size)
    return first_served(candidates(size, privacy, adjacency, method, rows=rows), refusal)


def fitting(strategy: Strategy, size: int) -> Strategy:
    """A designed strategy as it is."""
    if strategy.size != size:
        raise ParameterError(f"the strategy covers {strategy.size} thresholds but the grid has {size}")
    return strategy


def first_served(strategies: Iterable[Strategy], refusal: Callable[[Strategy], str | None]) -> Strategy:
    """The first strategy that the trust model can serve."""
    reason: str | None = None
    for strategy in strategies:
        reason = refusal(strategy)
        if reason is None:
            return strategy
    raise UnsupportedError(str(reason))


# --- Private selection of a method
#
# First a query tells the candidate with the largest noisy score (`NoisyMaxQuery` with an `ApproximationScore`), then
# the rest of the budget measures the curve by this candidate. The two losses add up: pure ones in epsilon, others in
# zCDP. For an (epsilon, delta) guarantee the first is pure with a share of epsilon, and the second either pure with the
# rest, or Gaussian with the rest of the guarantee's rho. Where an account pays, or several groups are asked, which of
# the two it is does not depend on the records, so that the whole can be charged before the selection.

_SELECTED_SEED = 0x73656C656374
_METHODS = (Projection(), Projection(degree=30), HistogramQueries(), HistogramQueries(groups=100))


@dataclass(frozen=True, init=False)
class PrivateSelection(CurveMethod):
    """Selects a method privately, then uses it.

    Candidates are the best unbiased strategy, projections, and histograms.

    Args:
        share: Share of epsilon or rho for the selection, strictly between 0 and 1.
    """

    name: ClassVar[str] = "selected"

    share: Fraction

    def __init__(self, share: Rational = "0.1") -> None:
        value = exact(share, "share")
        if not 0 < value < 1:
            raise ParameterError(f"`share` must be strictly between 0 and 1, got {share}")
        object.__setattr__(self, "share", value)

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Select with a share of the guarantee, then measure with the rest."""
        stages, designs = self._divided(task)
        query = _selection(stages, designs, task)
        # a smoothing that some candidate lacks is refused before anything is spent or learnt of the records
        lacking = (unsmoothable(design.strategy, task.smooth) for design in designs)
        reason = next(filter(None, lacking), None) or task.terms.refusal(query)
        if reason is not None:
            raise UnsupportedError(reason)
        answer = yield query
        return (yield from measured_once(designs[int(answer.values[0])].strategy, task))

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Errors by simulation, including the selection."""
        stages, designs = self._divided(task)
        query = _selection(stages, designs, task)
        scored = tuple(design.scored for design in designs)
        return _selected_errors(scored, query, records, task.terms.adjacency is Adjacency.REPLACE, shapes)

    def _divided(self, task: CurveTask) -> tuple[_Stages, tuple[_Candidate, ...]]:
        stages = _stages(self.share, task.terms.privacy)
        rest, public = stages.rest, (task.size, task.terms.adjacency, task.rows, guessed(task))
        if task.terms.one_loss_type and len(rest) > 1:
            # the type of noise that suits the unbiased candidate best, for all of them
            pure = isinstance(_least_noise(None, rest, *public).loss(task.terms.adjacency), PureDP)
            rest = tuple(grant for grant in rest if isinstance(grant, PureDP) is pure)
            stages = dataclasses.replace(stages, rest=rest, concentrated=not pure)
        return stages, _designs(rest, *public)


@dataclass(frozen=True)
class _Stages:
    """How a guarantee is divided.

    Fields:
        rest: What the measurement may cost: any one of these.
    """

    first: PureDP
    rest: tuple[PureDP | ZeroConcentratedDP, ...]
    concentrated: bool


def _stages(share: Fraction, privacy: Privacy) -> _Stages:
    if isinstance(privacy, PureDP):
        return _Stages(PureDP(privacy.epsilon * share), (PureDP(privacy.epsilon * (1 - share)),), False)
    if isinstance(privacy, ZeroConcentratedDP):
        first = pure_epsilon(ZeroConcentratedDP(privacy.rho * share))
        return _Stages(first, (ZeroConcentratedDP(privacy.rho - first.epsilon**2 / 2),), True)
    first = PureDP(privacy.epsilon * share)
    rest: list[PureDP | ZeroConcentratedDP] = [PureDP(privacy.epsilon - first.epsilon)]
    rho = gaussian_rho(privacy).rho - first.epsilon**2 / 2
    return _Stages(first, (*rest, ZeroConcentratedDP(rho)) if rho > 0 else tuple(rest), False)


@dataclass(frozen=True)
class _Candidate:
    """A candidate: what would be measured, and the same for the coarser grid on which candidates are scored."""

    strategy: Strategy
    scored: Strategy


@lru_cache(maxsize=128)
def _designs(
    rest: tuple[Privacy, ...], size: int, adjacency: Adjacency, rows: int, records: int
) -> tuple[_Candidate, ...]:
    """The candidates, each with the least noise that the rest of the guarantee allows."""

    def candidate(method: Projection | HistogramQueries | None) -> _Candidate:
        strategy = _least_noise(method, rest, size, adjacency, rows, records)
        if size <= LARGEST_SIZE:
            return _Candidate(strategy, strategy)
        return _Candidate(strategy, _least_noise(method, rest, LARGEST_SIZE, adjacency, rows, records))

    return tuple(dict.fromkeys(possible(candidate, (None, *_METHODS))))


def _least_noise(
    method: Projection | HistogramQueries | None,
    rest: tuple[Privacy, ...],
    size: int,
    adjacency: Adjacency,
    rows: int,
    records: int,
) -> Strategy:
    """Of the designs for any one guarantee of the rest the one with the least noise; None is the best unbiased one."""

    def strategy(grant: Privacy) -> Strategy:
        if method is None:
            return candidates(size, grant, adjacency, rows=rows)[0]
        return method.design(size, grant, adjacency, rows, records)

    return min(possible(strategy, rest), key=lambda each: mean_variance(each, adjacency))


def _selection(stages: _Stages, designs: tuple[_Candidate, ...], task: CurveTask) -> NoisyMaxQuery:
    """The query that selects, on a grid of at most 1024 bins."""
    records, known = guessed(task), task.terms.adjacency is Adjacency.REPLACE
    scored: list[Any] = [design.scored for design in designs]
    noise = tuple(round(records * noise_energy(each, records, total_known=known) * 2**FRACTION_BITS) for each in scored)
    score = ApproximationScore(task.size, tuple(scored), noise, known)
    try:
        return design_noisy_max(
            task.binning, score, privacy=stages.first, unit=task.terms.unit, concentrated=stages.concentrated
        )
    except ScaleError as error:
        raise ScaleError(
            f"a selection for {stages.first} needs more noise than can be drawn; "
            "give it a larger share, or allow a larger privacy loss",
            error.excess,
        ) from None


@lru_cache(maxsize=64)
def _selected_errors(
    scored: tuple[Any, ...], query: NoisyMaxQuery, records: int, total_known: bool, shapes: Shapes
) -> Expected:
    size = scored[0].size
    counts = shapes.counts(size, records)
    assert isinstance(query.score, ApproximationScore)
    score = ApproximationScore(size, scored, query.score.noise, total_known)
    random = np.random.Generator(np.random.PCG64([_SELECTED_SEED, records]))
    result = np.empty(counts.shape)
    for shape, run in np.ndindex(counts.shape[:2]):
        noise = public_noise(query.law, len(scored), random)
        design = scored[int(np.argmax((score.scores(counts[shape, run]) << query.bits) + noise))]
        result[shape, run] = simulated_curve(design, counts[shape, run], records if total_known else None, random)
    return shapes.errors(result, counts)


# --- All methods by their names

MethodName = Literal[UnbiasedName, "projection", "histogram", "adaptive", "selected", "reports"]
Method = MethodName | Strategy | CurveMethod
"""A method's name, a curve method with options, or a strategy designed by hand."""

_ALL: tuple[CurveMethod, ...] = (Projection(), HistogramQueries(), AdaptiveQuantiles(), PrivateSelection(), Reports())
CURVE_METHODS = {method.name: method for method in _ALL}
METHODS: tuple[MethodName, ...] = get_args(MethodName)[1:]

PEOPLE_METHODS: tuple[MethodName, ...] = tuple(name for name in UNBIASED_METHODS if name != "symmetric")
"""Methods that count people. The integers of the symmetric root leave room for two million of them, and no more."""

MOST_EXPECTED = 1 << 40
# an unbiased curve that is nearly as good says more: its bands are narrower and no shape of data misleads it
_WORTH = 0.9
_MISLED = 2.0
_AT_MOST = 1.4  # times as far off in KS, by 32 simulated releases of each shape, which stray: in truth at most 1.5
_SURELY = 2.5  # the same by 8 releases, which stray more
_QUICK = 1024  # thresholds on which that is looked at; finer unbiased curves are a little farther off
_APPROXIMATING = ("auto", "isotonic")  # what smooths what is measured of a few numbers


def as_method(method: Any) -> Method:
    """A method in its one form: a curve method for its name, anything else as it is."""
    if isinstance(method, str):
        name = among(method, "method", get_args(MethodName))
        return CURVE_METHODS.get(name, cast(MethodName, name))
    if isinstance(method, type) or not isinstance(method, CurveMethod | Strategy):
        raise ParameterError(f"`method` must be a name, a candidate or a strategy, got {quoted(method)}")
    return method


def plain_smoothing(method: Method, smooth: Smooth) -> Smooth:
    """What "auto" smoothing stands for, where that is the same whatever the method turns out to measure."""
    if isinstance(method, str):
        plain = method in UNBIASED_METHODS
    else:
        plain = not isinstance(method, CurveMethod) and not approximates(method)
    return DEFAULT_SMOOTHING if plain and smooth == "auto" else smooth


def check_expected(records: Any) -> None:
    """Refuse a guess of the number of records that is not a number of records."""
    if records is None:
        return
    whole(records, "expected_records", 1, MOST_EXPECTED)


_CHOSEN: dict[Hashable, CurveMethod | Strategy] = {}
_MOST_CHOSEN = 32


def chosen(method: Method, task: CurveTask) -> CurveMethod | Strategy:
    """What releases a curve by a method; kept for the next task that says the same of everything public."""
    method, terms = as_method(method), task.terms
    if isinstance(method, CurveMethod):
        return method
    if terms.serving is None:
        return _choice(method, task)
    # nobody counts records where their number decides nothing
    counted = method == "auto" and not task.people and terms.private and task.smooth in _APPROXIMATING
    records = task.records if counted else None
    public = (terms.serving, terms.privacy, terms.unit, records, terms.private, terms.adding, terms.honest)
    key = (method, public, terms.groups, terms.one_loss_type, task.binning, task.smooth, task.people)
    result = _CHOSEN.get(key)
    if result is None:
        result = _choice(method, task)
        while len(_CHOSEN) >= _MOST_CHOSEN:
            del _CHOSEN[next(iter(_CHOSEN))]
        _CHOSEN[key] = result
    return result


def _choice(method: str | Strategy, task: CurveTask) -> CurveMethod | Strategy:
    """The strategy of that name; for "auto" the first of the best that can be served."""
    if method == "auto" and not task.people:
        if owners_answer(task.terms, task.binning):
            return CURVE_METHODS[Reports.name]
        for candidate in better(task):
            with contextlib.suppress(ParameterError, ScaleError, UnsupportedError):
                if task.terms.refusal(next(candidate.curve(task))) is None:
                    return candidate
    return unbiased(method, task)


def uncountable(method: Any) -> str | None:
    """Why a method measures no people, or None if it does."""
    if isinstance(method, str) and method in ("auto", *PEOPLE_METHODS):
        return None
    name = method if isinstance(method, str) else method.name
    if name in PEOPLE_METHODS:
        return "a strategy that was designed by hand counts rows; with `counted='people'` name a method"
    return f"people are counted by methods auto, {', '.join(PEOPLE_METHODS)}, not by {name}"


def unbiased(method: str | Strategy, task: CurveTask) -> Strategy:
    """The strategy of that name, or for "auto" the unbiased one of the smallest variance, that can be served."""

    def refusal(strategy: Strategy) -> str | None:
        unfit = uncountable(strategy.name) if task.people else None
        return unfit or unsmoothable(strategy, task.smooth) or task.terms.refusal(task.query(strategy))

    return choose(task.size, task.terms.privacy, task.terms.adjacency, method, refusal, rows=task.rows)


def better(task: CurveTask) -> Iterator[CurveMethod]:
    """Curve methods with a smaller predicted error than the best unbiased strategy that fail on no shape, best first.

    What may be more than 1.5 times as far off in KS on any public shape as `hat_ls`, or as the best unbiased strategy,
    is left out, however good it is on other shapes. Of the rest, methods that are more than twice as far off in energy
    distance as another one on any of the seven reference shapes come last, the least far off first; of the others the
    one with the smallest geometric mean over these shapes comes first.

    None where nothing is hidden, since exact answers need no approximation, and none where the number of
    records is private and no public guess of it was given. Private selection is left to who asks for it: it spends
    a part of the budget on looking at the records, and "auto" does not look. Reports are for records that nobody sees;
    there they are the only method.
    """
    if not task.terms.private or task.smooth not in _APPROXIMATING or task.records is None:
        return
    quick = task.at_most(_QUICK)
    safe = _safe(quick)
    approximating = [
        method
        for method in CURVE_METHODS.values()
        if not isinstance(method, PrivateSelection | Reports) and not _fails(method, safe, quick, FIRST, _SURELY)
    ]
    if not approximating:
        return
    results: list[tuple[CurveMethod | None, tuple[float, ...]]] = []
    for candidate in (None, *approximating):
        with contextlib.suppress(ParameterError, ScaleError, UnsupportedError):
            results.append((candidate, predicted_errors("auto" if candidate is None else candidate, task).energy))
    if not results:
        return
    least = np.min([energies for _, energies in results], axis=0)
    ranked: list[tuple[bool, float, CurveMethod | None]] = []
    for candidate, energies in results:
        worst = max(
            1.0 if energy == best else energy / max(best, NO_ERROR)
            for energy, best in zip(energies, least, strict=True)
        )
        misled = worst > _MISLED
        ranked.append(
            (misled, worst if misled else typical(energies) * (_WORTH if candidate is None else 1.0), candidate)
        )
    ranked.sort(key=lambda each: each[:2])
    for _, _, candidate in ranked:
        if candidate is None:
            return
        if not _fails(candidate, safe, quick, EVERY, _AT_MOST):
            yield candidate


def _safe(task: CurveTask) -> tuple[Strategy, ...]:
    """Reference strategies for `_fails`: the unbiased one and `hat_ls`, each where it can be served."""
    results: dict[Strategy, None] = {}
    for name in ("auto", "hat_ls"):
        with contextlib.suppress(ParameterError, ScaleError, UnsupportedError):
            results[unbiased(name, task)] = None
    return tuple(results)


def _fails(candidate: CurveMethod, safe: tuple[Strategy, ...], task: CurveTask, shapes: Shapes, limit: float) -> bool:
    """Whether the KS distance of a method is more than `limit` times that of the safe strategies, on any shape."""
    # rounded up to two digits, so that similar numbers share a prediction; more records are never safer, since noise
    # becomes less, and a bias stays
    records = guessed(task) * task.terms.groups
    unit = 10 ** max(0, len(str(records)) - 2)
    records = -(-records // unit) * unit
    try:
        errors = candidate.errors(task, shapes, records).ks
    except (ParameterError, ScaleError, UnsupportedError):
        return True
    for error, name in sorted(zip(errors, shapes.names, strict=True), reverse=True):  # the likeliest to fail first
        one = Shapes((name,), shapes.runs)
        if any(error > limit * strategy_errors(each, task, one, records).ks[0] for each in safe):
            return True
    return False


def predicted_errors(method: Method, task: CurveTask, shapes: Shapes = USUAL) -> Expected:
    """Predicted errors of a method on public shapes; "auto" is the best unbiased strategy here."""
    resolved, coarse, records = as_method(method), task.at_most(), guessed(task)
    if isinstance(resolved, CurveMethod):
        return resolved.errors(coarse, shapes, records)
    if isinstance(resolved, str):
        resolved = unbiased(resolved, coarse)
    return strategy_errors(resolved, task, shapes, records)

"""All methods of releasing a curve by their names, and which of them `auto` takes.

The choice rests on public quantities alone: the number of thresholds, the guarantee, the adjacency, how many
records a person may have, and the number of records where that is public or guessed publicly. It costs nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Hashable, Iterator
from typing import Any, Literal, cast, get_args

import numpy as np

from ogive.core.checks import among, whole
from ogive.errors import ParameterError, ScaleError, UnsupportedError, quoted
from ogive.queries import Answer, Query
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import (
    EVERY,
    FIRST,
    USUAL,
    CurveMethod,
    CurveTask,
    Expected,
    Shapes,
    curve_from,
    guessed,
    owners_answer,
    strategy_errors,
    typical,
)
from ogive.statistics.methods.few_numbers import HistogramQueries, Projection
from ogive.statistics.methods.reports import Reports
from ogive.statistics.methods.stepwise import AdaptiveQuantiles, PrivateSelection
from ogive.statistics.methods.unbiased import UNBIASED_METHODS, UnbiasedName, choose
from ogive.strategies import Strategy
from ogive.strategies.base import approximates
from ogive.strategies.smoothing import DEFAULT_SMOOTHING, Smooth, automatic_smoothing, unsmoothable

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
_NO_ERROR = 1e-300  # in the place of an error of nothing, as on a single bin


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
    unbiased = method in UNBIASED_METHODS if isinstance(method, str) else not isinstance(method, CurveMethod)
    if smooth != "auto" or not unbiased or (not isinstance(method, str | CurveMethod) and approximates(method)):
        return smooth
    return DEFAULT_SMOOTHING


def check_expected(records: Any) -> None:
    """Refuse a guess of the number of records that is no number of records."""
    if records is None:
        return
    whole(records, "expected_records", 1, MOST_EXPECTED)


def released(method: Method, task: CurveTask) -> Generator[Query, Answer, Curve]:
    """Release a curve by a method."""
    resolved = as_method(method)
    task.terms.check_cells(task.size)
    if task.people:
        reason = uncountable(method)
        if reason is not None:
            raise ParameterError(reason)
    chosen = _chosen(resolved, task)
    if isinstance(chosen, CurveMethod):
        return (yield from chosen.curve(task))
    query = task.query(chosen)
    strategy, answer = query.strategy, (yield query)
    smoothing: str = task.smooth
    if resolved == smoothing == "auto":
        smoothing = automatic_smoothing(answer.noise_of(strategy), answer.values, answer.total)
    return curve_from(answer, task.binning, strategy, task.terms, smoothing, people=task.people)


_CHOSEN: dict[Hashable, CurveMethod | Strategy] = {}
_MOST_CHOSEN = 32


def _chosen(method: Method, task: CurveTask) -> CurveMethod | Strategy:
    """What releases a curve by a method; kept for the next task that says the same of everything public."""
    terms = task.terms
    if isinstance(method, CurveMethod) or terms.serving is None:
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


def _choice(method: Method, task: CurveTask) -> CurveMethod | Strategy:
    """The method itself, or the strategy of that name; for "auto" the first of the best that can be served."""
    if isinstance(method, CurveMethod):
        return method
    if method == "auto" and not task.people:
        if owners_answer(task.terms, task.binning):
            return CURVE_METHODS[Reports.name]
        for candidate in better(task):
            try:
                query = next(candidate.curve(task))
            except (ParameterError, ScaleError, UnsupportedError):
                continue
            if task.terms.refusal(query) is None:
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
    candidates = [
        candidate for candidate in CURVE_METHODS.values() if candidate.name not in (PrivateSelection.name, Reports.name)
    ]
    candidates = [candidate for candidate in candidates if not _fails(candidate, safe, quick, FIRST, _SURELY)]
    if not candidates:
        return
    results: list[tuple[CurveMethod | None, tuple[float, ...]]] = []
    for candidate in (None, *candidates):
        try:
            results.append((candidate, predicted_errors("auto" if candidate is None else candidate, task).energy))
        except (ParameterError, ScaleError, UnsupportedError):
            continue
    if not results:
        return
    least = np.min([energies for _, energies in results], axis=0)
    ranked: list[tuple[bool, float, CurveMethod | None]] = []
    for candidate, energies in results:
        worst = max(
            1.0 if energy == best else energy / max(best, _NO_ERROR)
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
    records = _most_records(task)
    try:
        errors = candidate.errors(task, shapes, records).ks
    except (ParameterError, ScaleError, UnsupportedError):
        return True
    for error, name in sorted(zip(errors, shapes.names, strict=True), reverse=True):  # the likeliest to fail first
        one = Shapes((name,), shapes.runs)
        if any(error > limit * strategy_errors(each, task, one, records).ks[0] for each in safe):
            return True
    return False


def _most_records(task: CurveTask) -> int:
    """How many records one curve may be of, rounded up to two digits, so that similar numbers share a prediction.

    More records are never safer: the noise becomes less, and a bias stays.
    """
    most = guessed(task) * task.terms.groups
    unit: int = 10 ** max(0, len(str(most)) - 2)
    return -(-most // unit) * unit


def predicted_errors(method: Method, task: CurveTask, shapes: Shapes = USUAL) -> Expected:
    """Predicted errors of a method on public shapes; "auto" is the best unbiased strategy here."""
    resolved, coarse, records = as_method(method), task.coarse, guessed(task)
    if isinstance(resolved, CurveMethod):
        return resolved.errors(coarse, shapes, records)
    if isinstance(resolved, str):
        resolved = unbiased(resolved, coarse)
    return strategy_errors(resolved, task, shapes, records)

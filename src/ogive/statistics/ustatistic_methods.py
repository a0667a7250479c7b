"""The ways of measuring a pairwise statistic by name, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ogive.statistics.ustatistic_reports import ORACLES, reports
from ogive.statistics.ustatistic_ways import Asked, Way, best

METHODS: dict[str, Callable[[Asked], Way]] = {
    **{name: partial(reports, name=name) for name in ORACLES},
}
"""What makes each way, with its best number of bins where that is free."""


def chosen(asked: Asked, method: str) -> Way:
    """The named way, or the one with the smallest predicted error of those that fit.

    Raises:
        ParameterError, UnsupportedError, ScaleError: it does not fit, or none does.
    """
    if method != "auto":
        return METHODS[method](asked)
    return best(partial(make, asked) for make in METHODS.values())

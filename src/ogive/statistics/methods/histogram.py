"""Noisy counts of a few groups of neighboring bins, measured once."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ogive.errors import ParameterError, quoted
from ogive.privacy import Adjacency, Privacy, PureDP
from ogive.queries import Answer, Query
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import CurveTask
from ogive.statistics.methods.expected_error import strategy_errors
from ogive.statistics.methods.finish import measured_once
from ogive.statistics.methods.noise import NOISES, designs
from ogive.statistics.methods.reference_shapes import Expected, Shapes
from ogive.statistics.methods.reported_histogram import expected_groups, reported_groups
from ogive.statistics.methods.reports import owners_answer
from ogive.strategies import Strategy, design_histogram
from ogive.strategies.histogram import ACCOUNTINGS, DEFAULT_GROUPS, check_groups


@dataclass(frozen=True)
class HistogramQueries:
    """Noisy counts of a few groups of neighboring bins, and straight lines in between.

    Under trust local every owner reports, noisily, which group is theirs; accounting and noise are then left out.

    Fields:
        groups: Number of groups; one for each bin where there are fewer bins.
        accounting: "joint", or "naive" for the paper's ordering of methods: every count charged on its own.
        noise: "gaussian", "laplace", or "auto" for the one that is smaller where the guarantee allows both.
    """

    name: ClassVar[str] = "histogram"

    groups: int = DEFAULT_GROUPS
    accounting: str = "joint"
    noise: str = "auto"

    def __post_init__(self) -> None:
        check_groups(self.groups)
        if self.accounting not in ACCOUNTINGS:
            raise ParameterError(f"`accounting` must be joint or naive, got {quoted(self.accounting)}")
        if self.noise not in NOISES:
            raise ParameterError(f"`noise` must be auto, gaussian or laplace, got {quoted(self.noise)}")

    def strategy(self, task: CurveTask) -> Strategy:
        """What is measured."""
        return self.design(task.size, task.terms.privacy, task.terms.adjacency, task.rows, task.records)

    def design(self, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None) -> Strategy:
        """The same from what the terms say; the number of records makes no difference."""
        return _least_noise(self, size, privacy, adjacency, rows)

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Measure the groups once at the whole of the guarantee, or ask every owner for theirs."""
        if owners_answer(task.terms, task.binning):
            self._check_reported()
            return (yield from reported_groups(self.groups, task))
        return (yield from measured_once(self.strategy(task), task))

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Sampling, noise and the error of straight lines within groups."""
        if owners_answer(task.terms, task.binning):
            return strategy_errors(expected_groups(self.groups, task), task, shapes, records)
        return strategy_errors(self.strategy(task), task, shapes, records)

    def _check_reported(self) -> None:
        if (self.accounting, self.noise) != ("joint", "auto"):
            raise ParameterError("accounting and noise of a histogram are for who sees records; leave them out")


@lru_cache(maxsize=256)
def _least_noise(method: HistogramQueries, size: int, privacy: Privacy, adjacency: Adjacency, rows: int) -> Strategy:
    """Of the noises that the guarantee allows the smaller one; the naive split is the paper's, Gaussian."""
    noise = method.noise
    if noise == "auto" and method.accounting == "naive" and not isinstance(privacy, PureDP):
        noise = "gaussian"

    def design(grant: Privacy) -> Strategy:
        return design_histogram(
            size, privacy=grant, adjacency=adjacency, rows=rows, groups=method.groups, accounting=method.accounting
        )

    made = designs(privacy, noise, design, what=f"{min(method.groups, size)} groups")
    return min(made, key=lambda each: float(each.variance(total_known=adjacency is Adjacency.REPLACE).mean()))

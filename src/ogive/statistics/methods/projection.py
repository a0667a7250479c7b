"""Noisy coefficients of a few orthogonal functions, measured once."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ogive.checks import among
from ogive.privacy import Adjacency, Privacy
from ogive.queries import Answer, Query
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import CurveTask, measured_once
from ogive.statistics.methods.expected_error import strategy_errors
from ogive.statistics.methods.reference_shapes import Expected, Shapes
from ogive.strategies import Strategy, design_projection
from ogive.strategies.projection.form import check_degree

BASES = ("legendre", "sine", "cosine", "splines")
SHAPES = ("shaped", "isotropic", "moments")
CONSTANTS = ("exact", "paper")


@dataclass(frozen=True)
class Projection:
    """Noisy coefficients of a few orthogonal functions.

    Fields:
        basis: "legendre", "sine", "cosine" or "splines".
        degree: Degree K, from 0 (3 for splines) to 30 (15 for moments); None chooses it from the guarantee and the
            number of records.
        noise: "shaped" (covariance fitted to the change by one record), "isotropic", or "moments" (on raw moments, as
            in the paper).
        constants: "exact", or "paper" for the paper's sensitivity of the moments.
    """

    name: ClassVar[str] = "projection"

    basis: str = "legendre"
    degree: int | None = None
    noise: str = "shaped"
    constants: str = "exact"

    def __post_init__(self) -> None:
        among(self.basis, "basis", BASES)
        among(self.noise, "noise", SHAPES)
        among(self.constants, "constants", CONSTANTS)
        if self.degree is not None:
            check_degree(self.degree, self.basis, self.noise)

    def strategy(self, task: CurveTask) -> Strategy:
        """The strategy that is measured."""
        return self.design(task.size, task.terms.privacy, task.terms.adjacency, task.rows, task.records)

    def design(self, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None) -> Strategy:
        """The same design from the terms."""
        return _projected(self, size, privacy, adjacency, rows, records)

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Measure the coefficients once at the whole guarantee."""
        return (yield from measured_once(self.strategy(task), task))

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Errors from sampling, noise and approximation."""
        return strategy_errors(self.strategy(task), task, shapes, records)


@lru_cache(maxsize=256)
def _projected(
    method: Projection, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None
) -> Strategy:
    return design_projection(
        size,
        privacy=privacy,
        adjacency=adjacency,
        rows=rows,
        records=None if records is None else max(1, records),
        basis=method.basis,
        degree=method.degree,
        noise=method.noise,
        constants=method.constants,
    )

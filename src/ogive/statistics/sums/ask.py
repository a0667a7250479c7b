"""How the sums behind a number are asked for, by what the trust model serves and what is public.

Of two places: under REPLACE the number of records is public and one sum does, which a record changes by 1 at most;
under ADD_OR_REMOVE a record is in one of two cells, and counting both costs what counting one does. Of a
lattice: the sum of the numbers, beside it the number of records where that is private, and the squares, for nothing.
Owners report one of two places; a number in between becomes one of them at random, so that it is right on average. Of a
table every cell is counted.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from ogive.accounting import loss_per_row, pure_epsilon
from ogive.columns import Binning, Column, Domain, LabelValue, Listed, Membership, Missing
from ogive.columns.grids import Grid
from ogive.errors import UnsupportedError
from ogive.local.oracles import RandomizedResponse, UnaryOracle
from ogive.privacy import Adjacency, PureDP
from ogive.queries import (
    Answer,
    Cells,
    CellsQuery,
    MomentsQuery,
    Query,
    ReportsQuery,
    RowValues,
    Weights,
    design_cells,
    design_moments,
)
from ogive.statistics.base import Terms
from ogive.statistics.methods.base import owners_answer
from ogive.statistics.sums.lattice import Lattice
from ogive.statistics.sums.measured import Measured, reported_variance, reports_of

Asking = Generator[Query, Answer, Measured]

TOTAL = Weights(slope=1)
"""The sum of the places alone."""


def several(values: LabelValue | Sequence[LabelValue]) -> tuple[LabelValue, ...]:
    """Some values, where a single one may stand for itself."""
    if isinstance(values, list | tuple | set | frozenset):
        return tuple(values)
    return (cast(LabelValue, values),)


def ask_two_places(column: Membership, terms: Terms) -> Asking:
    """How many records are in a list of values."""
    if owners_answer(terms):
        return (yield from _ask_owners(column, "simple", terms))
    cells = Cells(Domain((column,)))
    if terms.adjacency is Adjacency.REPLACE:
        return (yield from ask_moments(cells, {"laplace": TOTAL, "gaussian": TOTAL}, terms))
    query = design_cells(cells, terms.privacy, terms.unit)
    return (yield from _ask(query, terms))


def ask_table(columns: tuple[Listed, ...], terms: Terms) -> Asking:
    """How many records there are of every combination of values of some columns.

    Under REPLACE a record moves two counts by 1; two counts that add up to the public number are one, which it moves by
    1 alone.
    """
    domain = Domain(columns)
    if owners_answer(terms):
        return (yield from _ask_reports(domain, best_oracle(domain.size, _of_each_report(terms)), "simple", terms))
    if domain.size == 2 and terms.adjacency is Adjacency.REPLACE:
        terms.check_cells(domain.size)
        return (yield from ask_moments(Cells(domain), {"laplace": TOTAL, "gaussian": TOTAL}, terms))
    return (yield from ask_cells(domain, terms))


def ask_cells(domain: Domain, terms: Terms) -> Asking:
    """A noisy count of every combination, of whom records are counted by; owners are not asked."""
    terms.check_cells(domain.size)
    return (yield from _ask(design_cells(Cells(domain), terms.privacy, terms.unit), terms))


def best_oracle(size: int, epsilon: Fraction) -> RandomizedResponse | UnaryOracle:
    """The oracle whose unbiased counts of equally frequent values have the smallest variance.

    Randomized response is best for few values or a large epsilon, unary encoding for others.
    """
    results: list[tuple[float, RandomizedResponse | UnaryOracle]] = []
    for form, kind in (("reports", RandomizedResponse), ("unary", UnaryOracle)):
        values = (1,) * (size + (form == "unary"))
        one = Measured(form, values, None, Adjacency.REPLACE, None, epsilon=epsilon)
        results.append((reported_variance(one, [(1.0, 1, 1 / size)]) / reports_of(one), kind(size, epsilon)))
    return min(results, key=lambda each: each[0])[1]


def ask_lattice(column: str, lattice: Lattice, missing: Missing, weights: dict[str, Weights], terms: Terms) -> Asking:
    """Sums of the numbers of a lattice, and what else the weights say."""
    if owners_answer(terms):
        ends = Grid.linear(float(lattice.low), float(lattice.high), bins=2)
        return (yield from _ask_owners(Binning(column, ends, missing), "randomized", terms))
    terms.check_cells(lattice.steps + 1)
    return (yield from ask_moments(Cells(Domain((Binning(column, lattice.grid(), missing),))), weights, terms))


def ask_moments(cells: Cells, weights: dict[str, Weights], terms: Terms) -> Asking:
    """Sums of one column."""
    return (yield from _ask(design_moments(cells, weights, terms.privacy, terms.unit), terms))


def mean_weights(lattice: Lattice, adjacency: Adjacency) -> dict[str, Weights]:
    """What is measured for a mean: twice as much of the guarantee for the sum as for the number of records.

    The squares then cost nothing: all that a record adds is largest at the ends of the lattice, where the third sum is
    0, and two records differ most at both ends.
    """
    last = lattice.steps
    private = adjacency is Adjacency.ADD_OR_REMOVE
    squares = int(last > 1)  # of two places they say nothing
    return {
        "laplace": Weights(last * last * private, 4 * last, -2 * last * last, squares),
        "gaussian": Weights((math.isqrt(last**4 // 2) + 1) * private, 2 * last, -last * last, squares),
    }


def sum_weights(lattice: Lattice, adjacency: Adjacency) -> tuple[dict[str, Weights], Lattice]:
    """What is measured for a sum, and on which lattice.

    Where the number of records is public, the sum of the places says it all. Where it is not, the values themselves are
    added up as multiples of a step, so the lattice is moved out to the nearest ones.
    """
    if adjacency is Adjacency.REPLACE:
        return {"laplace": TOTAL, "gaussian": TOTAL}, lattice
    step = lattice.step
    low, high = math.floor(lattice.low / step), math.ceil(lattice.high / step)
    weights = Weights(slope=1, shift=low)
    return {"laplace": weights, "gaussian": weights}, Lattice(low * step, high * step, high - low)


def _ask(query: CellsQuery | MomentsQuery, terms: Terms) -> Asking:
    answer = yield query
    held = answer.noise_of(query)
    return Measured(
        "cells" if isinstance(query, CellsQuery) else "moments",
        tuple(int(value) for value in answer.values),
        held.law if answer.noisy else None,
        terms.adjacency,
        answer.total,
        bits=query.bits,
        weights=query.weights if isinstance(query, MomentsQuery) else None,
    )


def _ask_owners(column: Column, rounding: str, terms: Terms) -> Asking:
    return (yield from _ask_reports(Domain((column,)), RandomizedResponse(2, _of_each_report(terms)), rounding, terms))


def _of_each_report(terms: Terms) -> Fraction:
    """The epsilon of one report of an owner."""
    if terms.adjacency is not Adjacency.REPLACE:
        raise UnsupportedError(
            "whoever gets reports can count them, so the number of records cannot be private; use `adjacency REPLACE`"
        )
    privacy = terms.privacy
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    return loss_per_row(pure, terms.unit.max_rows_per_person).epsilon


def _ask_reports(domain: Domain, oracle: RandomizedResponse | UnaryOracle, rounding: str, terms: Terms) -> Asking:
    answer = yield ReportsQuery(RowValues(domain), oracle, rounding)
    reports = tuple(int(value) for value in answer.values)
    form = "reports" if isinstance(oracle, RandomizedResponse) else "unary"
    result = Measured(form, reports, None, terms.adjacency, None, epsilon=oracle.epsilon)
    return replace(result, total=reports_of(result))
